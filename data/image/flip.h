// Mirrored pictures, and ones turned by right angles. Of any element type.
#ifndef TANDEM_DATA_IMAGE_FLIP_H_
#define TANDEM_DATA_IMAGE_FLIP_H_

#include "absl/status/statusor.h"
#include "base/host_tensor.h"
#include "base/source_location.h"

namespace tandem {

// `image` [height, width, channels] with its columns in reverse order (left and right change places), as
// tf.image.flip_left_right. InvalidArgument with the caller's line for what is no picture; so all of these.
absl::StatusOr<HostTensor> FlipLeftRight(const HostTensor& image, SourceLocation location = SourceLocation::Current());

// With its rows in reverse order, as tf.image.flip_up_down.
absl::StatusOr<HostTensor> FlipUpDown(const HostTensor& image, SourceLocation location = SourceLocation::Current());

// Turned counter-clockwise by `turns` right angles (also negative ones: clockwise), as tf.image.rot90: for an odd
// number the result is [width, height, channels].
absl::StatusOr<HostTensor> Rotate90(const HostTensor& image, int turns = 1,
                                    SourceLocation location = SourceLocation::Current());

}  // namespace tandem

#endif  // TANDEM_DATA_IMAGE_FLIP_H_
