// Pictures of any format that Tandem reads, told by their first bytes.
#ifndef TANDEM_DATA_IMAGE_DECODE_IMAGE_H_
#define TANDEM_DATA_IMAGE_DECODE_IMAGE_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/host_tensor.h"
#include "data/image/decode_options.h"

namespace tandem {

// A JPEG or PNG picture as [height, width, channels]: DecodeJpeg's or DecodePng's result and errors. DataLoss, with the
// first bytes, for what is neither.
absl::StatusOr<HostTensor> DecodeImage(absl::string_view bytes, const DecodeImageOptions& options = {});

}  // namespace tandem

#endif  // TANDEM_DATA_IMAGE_DECODE_IMAGE_H_
