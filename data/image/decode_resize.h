// DecodeImage and Resize in one step.
#ifndef TANDEM_DATA_IMAGE_DECODE_RESIZE_H_
#define TANDEM_DATA_IMAGE_DECODE_RESIZE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tandem/base/api.h"
#include "tandem/base/host_tensor.h"
#include "tandem/base/source_location.h"
#include "tandem/data/component_buffer.h"
#include "tandem/data/image/decode_options.h"
#include "tandem/data/image/resize.h"

namespace TANDEM_API tandem {

// Same as Resize(DecodeImage(bytes, decode), height, width, resize), with the same bits and errors, except that
// decode.max_bytes limits the smaller memory that is needed here. The rows of a JPEG are resized while they are
// decoded. A grey picture that should get three channels gets them last, after resizing: this gives the same bits,
// because the three channels are equal.
absl::StatusOr<HostTensor> DecodeAndResize(absl::string_view bytes, int64_t height, int64_t width,
                                           const DecodeImageOptions& decode = {}, const ResizeOptions& resize = {},
                                           SourceLocation location = SourceLocation::Current());

// As DecodeAndResize, but writes into the caller's memory, such as that of a batch (Dataset::MapInto). Height, width,
// channels, and whether values are rounded, come from `out`: [height, width, channels] of float32 or uint8.
// InvalidArgument for another type or rank.
absl::Status DecodeAndResizeInto(absl::string_view bytes, const ComponentBuffer& out,
                                 const DecodeImageOptions& decode = {}, const ResizeOptions& resize = {},
                                 SourceLocation location = SourceLocation::Current());

}  // namespace tandem

#endif  // TANDEM_DATA_IMAGE_DECODE_RESIZE_H_
