// Decodes pictures of any supported format, recognised by their first bytes.
#ifndef TANDEM_DATA_IMAGE_DECODE_IMAGE_H_
#define TANDEM_DATA_IMAGE_DECODE_IMAGE_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tandem/base/api.h"
#include "tandem/base/host_tensor.h"
#include "tandem/data/image/decode_options.h"

namespace TANDEM_API tandem {

// Returns a JPEG or PNG picture as [height, width, channels], with the result and errors of DecodeJpeg or DecodePng.
// DataLoss, with the first bytes, for other data.
absl::StatusOr<HostTensor> DecodeImage(absl::string_view bytes, const DecodeImageOptions& options = {});

}  // namespace tandem

#endif  // TANDEM_DATA_IMAGE_DECODE_IMAGE_H_
