// Random changes of pictures that come out the same whenever an example comes again: in a resumed run, with another
// number of threads, on another machine.
//
// What is drawn depends on the key and on the function alone. Two calls of one function on one example that should
// differ take different ExampleKey.stream.
#ifndef TANDEM_DATA_IMAGE_RANDOM_IMAGE_H_
#define TANDEM_DATA_IMAGE_RANDOM_IMAGE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "base/host_tensor.h"
#include "base/source_location.h"
#include "data/image/rotate.h"

namespace tandem {

struct ExampleKey {
  uint64_t seed = 0;
  int64_t epoch = 0;
  int64_t example = 0;  // its index in the data set, not its place in a shuffled order
  uint32_t stream = 0;
};

// A number, uniform in [low, high), for changes of the user's own. It has 24 random bits.
float RandomUniform(const ExampleKey& key, float low, float high);

// With probability 1/2 as FlipLeftRight, else the image itself (the same buffer). InvalidArgument as there; so all of
// these, and for a range whose end comes before its begin.
absl::StatusOr<HostTensor> RandomFlipLeftRight(const HostTensor& image, const ExampleKey& key,
                                               SourceLocation location = SourceLocation::Current());
absl::StatusOr<HostTensor> RandomFlipUpDown(const HostTensor& image, const ExampleKey& key,
                                            SourceLocation location = SourceLocation::Current());

// Crop of height x width; all places in the image have the same probability.
absl::StatusOr<HostTensor> RandomCrop(const HostTensor& image, int64_t height, int64_t width, const ExampleKey& key,
                                      SourceLocation location = SourceLocation::Current());

// AdjustBrightness and AdjustHue by delta in [-max_delta, max_delta), max_delta >= 0 (of hue, <= 0.5).
absl::StatusOr<HostTensor> RandomBrightness(const HostTensor& image, float max_delta, const ExampleKey& key,
                                            SourceLocation location = SourceLocation::Current());
absl::StatusOr<HostTensor> RandomHue(const HostTensor& image, float max_delta, const ExampleKey& key,
                                     SourceLocation location = SourceLocation::Current());

// AdjustContrast and AdjustSaturation by a factor in [low, high), 0 <= low <= high.
absl::StatusOr<HostTensor> RandomContrast(const HostTensor& image, float low, float high, const ExampleKey& key,
                                          SourceLocation location = SourceLocation::Current());
absl::StatusOr<HostTensor> RandomSaturation(const HostTensor& image, float low, float high, const ExampleKey& key,
                                            SourceLocation location = SourceLocation::Current());

// Rotate by an angle in [-max_radians, max_radians), max_radians >= 0.
absl::StatusOr<HostTensor> RandomRotate(const HostTensor& image, float max_radians, const ExampleKey& key,
                                        const RotateOptions& options = {},
                                        SourceLocation location = SourceLocation::Current());

}  // namespace tandem

#endif  // TANDEM_DATA_IMAGE_RANDOM_IMAGE_H_
