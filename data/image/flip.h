// Mirrors pictures, and turns them by right angles. For all element types.
#ifndef TANDEM_DATA_IMAGE_FLIP_H_
#define TANDEM_DATA_IMAGE_FLIP_H_

#include "absl/status/statusor.h"
#include "base/host_tensor.h"
#include "base/source_location.h"

namespace tandem {

// Returns `image` [height, width, channels] with its columns in reverse order (left and right are exchanged), as
// tf.image.flip_left_right. All of these functions return InvalidArgument, with the caller's line, for a tensor that is
// no picture.
absl::StatusOr<HostTensor> FlipLeftRight(const HostTensor& image, SourceLocation location = SourceLocation::Current());

// Returns `image` with its rows in reverse order, as tf.image.flip_up_down.
absl::StatusOr<HostTensor> FlipUpDown(const HostTensor& image, SourceLocation location = SourceLocation::Current());

// Returns `image` turned counter-clockwise by `turns` right angles (negative: clockwise), as tf.image.rot90: for an odd
// number the result is [width, height, channels].
absl::StatusOr<HostTensor> Rotate90(const HostTensor& image, int turns = 1,
                                    SourceLocation location = SourceLocation::Current());

}  // namespace tandem

#endif  // TANDEM_DATA_IMAGE_FLIP_H_
