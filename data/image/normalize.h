// Scales pictures to numbers that suit networks: around 0, of magnitude 1.
#ifndef TANDEM_DATA_IMAGE_NORMALIZE_H_
#define TANDEM_DATA_IMAGE_NORMALIZE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "tandem/base/api.h"
#include "tandem/base/host_tensor.h"
#include "tandem/base/source_location.h"

namespace TANDEM_API tandem {

struct NormalizeOptions {
  // Values are multiplied by this first: 1 / 255 maps bytes to [0, 1].
  float scale = 1.0f / 255.0f;
  // Mean and standard deviation of the scaled values: one for each channel, or one for all.
  std::vector<float> mean = {0};
  std::vector<float> stddev = {1};
};

// Returns `image`, uint8 or float32 [height, width, channels], as float32 (v * scale - mean[c]) / stddev[c].
// InvalidArgument, with the caller's line, for other types and ranks, a wrong number of means or deviations, and a
// deviation <= 0.
absl::StatusOr<HostTensor> Normalize(const HostTensor& image, const NormalizeOptions& options = {},
                                     SourceLocation location = SourceLocation::Current());

// Returns (v - m) / max(s, 1 / sqrt(n)), where m and s are the mean and standard deviation of the n values of all
// channels, as tf.image.per_image_standardization.
absl::StatusOr<HostTensor> StandardizePerImage(const HostTensor& image,
                                               SourceLocation location = SourceLocation::Current());

}  // namespace tandem

#endif  // TANDEM_DATA_IMAGE_NORMALIZE_H_
