// Cuts out parts of pictures, and adds borders. For all element types.
#ifndef TANDEM_DATA_IMAGE_CROP_H_
#define TANDEM_DATA_IMAGE_CROP_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "base/host_tensor.h"
#include "base/source_location.h"

namespace tandem {

// Returns rows [top, top + height) and columns [left, left + width) of `image` [h, w, channels], as
// tf.image.crop_to_bounding_box. InvalidArgument, with the caller's line, if they are not within the image.
absl::StatusOr<HostTensor> Crop(const HostTensor& image, int64_t top, int64_t left, int64_t height, int64_t width,
                                SourceLocation location = SourceLocation::Current());

// Returns the middle `fraction` of rows and columns, 0 < fraction <= 1, as tf.image.central_crop: leaves out (size -
// size * fraction) / 2, rounded down, at the beginning and as many at the end.
absl::StatusOr<HostTensor> CentralCrop(const HostTensor& image, double fraction,
                                       SourceLocation location = SourceLocation::Current());

// Returns a picture of height x width that has `image` with its first pixel at (top, left), and 0 elsewhere, as
// tf.image.pad_to_bounding_box. InvalidArgument if `image` does not fit.
absl::StatusOr<HostTensor> Pad(const HostTensor& image, int64_t top, int64_t left, int64_t height, int64_t width,
                               SourceLocation location = SourceLocation::Current());

// Returns the middle of the picture, with a border of 0 where it is too small, as tf.image.resize_with_crop_or_pad.
absl::StatusOr<HostTensor> CropOrPad(const HostTensor& image, int64_t height, int64_t width,
                                     SourceLocation location = SourceLocation::Current());

}  // namespace tandem

#endif  // TANDEM_DATA_IMAGE_CROP_H_
