// Random changes of pictures that are the same whenever an example is used again: in a resumed run, with another number
// of threads, on another machine.
//
// The random numbers depend only on the key and the function. To make two calls of one function for one example differ,
// use different values of ExampleKey.stream.
#ifndef TANDEM_DATA_IMAGE_RANDOM_IMAGE_H_
#define TANDEM_DATA_IMAGE_RANDOM_IMAGE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "tandem/base/api.h"
#include "tandem/base/host_tensor.h"
#include "tandem/base/source_location.h"
#include "tandem/data/image/rotate.h"

namespace TANDEM_API tandem {

struct ExampleKey {
  uint64_t seed = 0;
  int64_t epoch = 0;
  int64_t example = 0;  // the example's index in the data set, not its place in a shuffled order
  uint32_t stream = 0;
};

// Returns a number, uniform in [low, high), for your own random changes. It has 24 random bits.
float RandomUniform(const ExampleKey& key, float low, float high);

// Returns FlipLeftRight (FlipUpDown) of the image with probability 1/2, otherwise the image itself (the same buffer).
// All functions below return InvalidArgument for the same reasons as those without Random, and for a range whose end is
// before its beginning.
absl::StatusOr<HostTensor> RandomFlipLeftRight(const HostTensor& image, const ExampleKey& key,
                                               SourceLocation location = SourceLocation::Current());
absl::StatusOr<HostTensor> RandomFlipUpDown(const HostTensor& image, const ExampleKey& key,
                                            SourceLocation location = SourceLocation::Current());

// Crops to height x width; all places in the image have the same probability.
absl::StatusOr<HostTensor> RandomCrop(const HostTensor& image, int64_t height, int64_t width, const ExampleKey& key,
                                      SourceLocation location = SourceLocation::Current());

// Apply AdjustBrightness and AdjustHue with delta in [-max_delta, max_delta), max_delta >= 0 (for hue, <= 0.5).
absl::StatusOr<HostTensor> RandomBrightness(const HostTensor& image, float max_delta, const ExampleKey& key,
                                            SourceLocation location = SourceLocation::Current());
absl::StatusOr<HostTensor> RandomHue(const HostTensor& image, float max_delta, const ExampleKey& key,
                                     SourceLocation location = SourceLocation::Current());

// Apply AdjustContrast and AdjustSaturation with a factor in [low, high), 0 <= low <= high.
absl::StatusOr<HostTensor> RandomContrast(const HostTensor& image, float low, float high, const ExampleKey& key,
                                          SourceLocation location = SourceLocation::Current());
absl::StatusOr<HostTensor> RandomSaturation(const HostTensor& image, float low, float high, const ExampleKey& key,
                                            SourceLocation location = SourceLocation::Current());

// Applies Rotate with an angle in [-max_radians, max_radians), max_radians >= 0.
absl::StatusOr<HostTensor> RandomRotate(const HostTensor& image, float max_radians, const ExampleKey& key,
                                        const RotateOptions& options = {},
                                        SourceLocation location = SourceLocation::Current());

}  // namespace tandem

#endif  // TANDEM_DATA_IMAGE_RANDOM_IMAGE_H_
