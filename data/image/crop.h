// Parts of pictures, and pictures with a border. Of any element type.
#ifndef TANDEM_DATA_IMAGE_CROP_H_
#define TANDEM_DATA_IMAGE_CROP_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "base/host_tensor.h"
#include "base/source_location.h"

namespace tandem {

// Rows [top, top + height) and columns [left, left + width) of `image` [h, w, channels], as
// tf.image.crop_to_bounding_box. InvalidArgument with the caller's line where they are not within the image.
absl::StatusOr<HostTensor> Crop(const HostTensor& image, int64_t top, int64_t left, int64_t height, int64_t width,
                                SourceLocation location = SourceLocation::Current());

// The middle `fraction` of rows and columns, 0 < fraction <= 1, as tf.image.central_crop: as many are left out at the
// end as at the begin, (size - size * fraction) / 2 rounded down.
absl::StatusOr<HostTensor> CentralCrop(const HostTensor& image, double fraction,
                                       SourceLocation location = SourceLocation::Current());

// A picture of height x width, 0 but for `image` with its first pixel at (top, left), as
// tf.image.pad_to_bounding_box. InvalidArgument where it does not fit in.
absl::StatusOr<HostTensor> Pad(const HostTensor& image, int64_t top, int64_t left, int64_t height, int64_t width,
                               SourceLocation location = SourceLocation::Current());

// The middle of the picture, with a border of 0 where it is too small, as tf.image.resize_with_crop_or_pad.
absl::StatusOr<HostTensor> CropOrPad(const HostTensor& image, int64_t height, int64_t width,
                                     SourceLocation location = SourceLocation::Current());

}  // namespace tandem

#endif  // TANDEM_DATA_IMAGE_CROP_H_
