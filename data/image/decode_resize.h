// DecodeImage and Resize in one.
#ifndef TANDEM_DATA_IMAGE_DECODE_RESIZE_H_
#define TANDEM_DATA_IMAGE_DECODE_RESIZE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/host_tensor.h"
#include "base/source_location.h"
#include "data/image/decode_options.h"
#include "data/image/resize.h"

namespace tandem {

// Resize(DecodeImage(bytes, decode), height, width, resize): the same bits and errors, but that decode.max_bytes is
// compared with what is needed. A grey JPEG that is to have three channels gets them last, in the small picture: grey
// is three times the same number whether it is resized before or afterwards.
absl::StatusOr<HostTensor> DecodeAndResize(absl::string_view bytes, int64_t height, int64_t width,
                                           const DecodeImageOptions& decode = {}, const ResizeOptions& resize = {},
                                           SourceLocation location = SourceLocation::Current());

}  // namespace tandem

#endif  // TANDEM_DATA_IMAGE_DECODE_RESIZE_H_
