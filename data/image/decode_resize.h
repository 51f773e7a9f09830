// DecodeImage and Resize in one.
#ifndef TANDEM_DATA_IMAGE_DECODE_RESIZE_H_
#define TANDEM_DATA_IMAGE_DECODE_RESIZE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/host_tensor.h"
#include "base/source_location.h"
#include "data/component_buffer.h"
#include "data/image/decode_options.h"
#include "data/image/resize.h"

namespace tandem {

// Resize(DecodeImage(bytes, decode), height, width, resize): the same bits and errors, but that decode.max_bytes is
// compared with what is needed. The rows of a JPEG are resized while they are decoded. A grey one that is to have three
// channels gets them last, in the small picture: grey is three times the same number whether it is resized before or
// afterwards.
absl::StatusOr<HostTensor> DecodeAndResize(absl::string_view bytes, int64_t height, int64_t width,
                                           const DecodeImageOptions& decode = {}, const ResizeOptions& resize = {},
                                           SourceLocation location = SourceLocation::Current());

// The same into memory that is there, such as a batch's (Dataset::MapInto). Height, width, channels, and whether values
// are rounded, are those of `out`, [height, width, channels] of float32 or uint8. InvalidArgument for another one.
absl::Status DecodeAndResizeInto(absl::string_view bytes, const ComponentBuffer& out,
                                 const DecodeImageOptions& decode = {}, const ResizeOptions& resize = {},
                                 SourceLocation location = SourceLocation::Current());

}  // namespace tandem

#endif  // TANDEM_DATA_IMAGE_DECODE_RESIZE_H_
