// Pictures as numbers that networks like: around 0, of size 1.
#ifndef TANDEM_DATA_IMAGE_NORMALIZE_H_
#define TANDEM_DATA_IMAGE_NORMALIZE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "base/host_tensor.h"
#include "base/source_location.h"

namespace tandem {

struct NormalizeOptions {
  // Values are multiplied by it first: 1 / 255 makes [0, 1] of bytes.
  float scale = 1.0f / 255.0f;
  // Of the scaled values: one for each channel, or one for all.
  std::vector<float> mean = {0};
  std::vector<float> stddev = {1};
};

// `image`, uint8 or float32 [height, width, channels], as float32 (v * scale - mean[c]) / stddev[c]. InvalidArgument
// with the caller's line for other types and ranks, another number of means or deviations, and a deviation <= 0.
absl::StatusOr<HostTensor> Normalize(const HostTensor& image, const NormalizeOptions& options = {},
                                     SourceLocation location = SourceLocation::Current());

// (v - m) / max(s, 1 / sqrt(n)), where m and s are mean and standard deviation of the n values of all channels: as
// tf.image.per_image_standardization.
absl::StatusOr<HostTensor> StandardizePerImage(const HostTensor& image,
                                               SourceLocation location = SourceLocation::Current());

}  // namespace tandem

#endif  // TANDEM_DATA_IMAGE_NORMALIZE_H_
