#include "data/image/random_image.h"

#include <cmath>

#include "base/philox.h"
#include "base/status_macros.h"
#include "data/image/color.h"
#include "data/image/crop.h"
#include "data/image/flip.h"
#include "data/image/image_argument.h"

namespace tandem {
namespace {

using image_internal::Call;

// This number makes the random streams of the functions differ. Trainings depend on the values: append new ones, never
// renumber.
enum class Use : uint32_t {
  kUniform = 0,
  kFlipLeftRight = 1,
  kFlipUpDown = 2,
  kCrop = 3,
  kBrightness = 4,
  kHue = 5,
  kContrast = 6,
  kSaturation = 7,
  kRotate = 8,
};

uint32_t Low(uint64_t v) { return static_cast<uint32_t>(v); }
uint32_t High(uint64_t v) { return static_cast<uint32_t>(v >> 32); }

// Returns four random words. Philox takes a key and a counter of 192 bits together, so it runs twice to use the 256
// bits of an ExampleKey.
PhiloxCounter Draw(const ExampleKey& key, Use use) {
  const PhiloxKey seed = {Low(key.seed), High(key.seed)};
  const PhiloxCounter first =
      Philox4x32({Low(key.epoch), High(key.epoch), key.stream, static_cast<uint32_t>(use)}, seed);
  return Philox4x32({Low(key.example), High(key.example), first[0], first[1]}, {first[2], first[3]});
}

float Between(uint32_t word, float low, float high) { return low + (high - low) * UniformFloat(word); }

// Maps a random word to a number in [0, count). The deviation from a uniform distribution, at most count / 2^32, is
// negligible.
int64_t Below(uint32_t word, int64_t count) { return static_cast<int64_t>((uint64_t{word} * count) >> 32); }

absl::Status CheckRange(const Call& call, float low, float high) {
  if (std::isfinite(low) && std::isfinite(high) && low >= 0 && low <= high) return absl::OkStatus();
  return call.Wrong("the range is [", low, ", ", high, "); it must be finite, >= 0, and its end not before its begin");
}

absl::Status CheckMax(const Call& call, absl::string_view name, float max, float limit) {
  if (std::isfinite(max) && max >= 0 && max <= limit) return absl::OkStatus();
  return call.Wrong(name, " is ", max, "; it must be finite and >= 0",
                    limit < INFINITY ? absl::StrCat(" and <= ", limit) : "");
}

}  // namespace

float RandomUniform(const ExampleKey& key, float low, float high) {
  return Between(Draw(key, Use::kUniform)[0], low, high);
}

absl::StatusOr<HostTensor> RandomFlipLeftRight(const HostTensor& image, const ExampleKey& key,
                                               SourceLocation location) {
  TD_RETURN_IF_ERROR(image_internal::CheckImage({"RandomFlipLeftRight", location}, image));
  if (Draw(key, Use::kFlipLeftRight)[0] & 1) return FlipLeftRight(image, location);
  return image;
}

absl::StatusOr<HostTensor> RandomFlipUpDown(const HostTensor& image, const ExampleKey& key, SourceLocation location) {
  TD_RETURN_IF_ERROR(image_internal::CheckImage({"RandomFlipUpDown", location}, image));
  if (Draw(key, Use::kFlipUpDown)[0] & 1) return FlipUpDown(image, location);
  return image;
}

absl::StatusOr<HostTensor> RandomCrop(const HostTensor& image, int64_t height, int64_t width, const ExampleKey& key,
                                      SourceLocation location) {
  const Call call{"RandomCrop", location};
  TD_RETURN_IF_ERROR(CheckImage(call, image));
  const Shape& shape = image.shape();
  if (height < 1 || width < 1 || height > shape[0] || width > shape[1]) {
    return call.Wrong("a part of ", height, " x ", width, " pixels of an image of shape ", ShapeString(shape),
                      "; it must be smaller than the image, or as large");
  }
  const PhiloxCounter words = Draw(key, Use::kCrop);
  return Crop(image, Below(words[0], shape[0] - height + 1), Below(words[1], shape[1] - width + 1), height, width,
              location);
}

absl::StatusOr<HostTensor> RandomBrightness(const HostTensor& image, float max_delta, const ExampleKey& key,
                                            SourceLocation location) {
  TD_RETURN_IF_ERROR(CheckMax({"RandomBrightness", location}, "max_delta", max_delta, INFINITY));
  return AdjustBrightness(image, Between(Draw(key, Use::kBrightness)[0], -max_delta, max_delta), location);
}

absl::StatusOr<HostTensor> RandomHue(const HostTensor& image, float max_delta, const ExampleKey& key,
                                     SourceLocation location) {
  TD_RETURN_IF_ERROR(CheckMax({"RandomHue", location}, "max_delta", max_delta, 0.5f));
  return AdjustHue(image, Between(Draw(key, Use::kHue)[0], -max_delta, max_delta), location);
}

absl::StatusOr<HostTensor> RandomContrast(const HostTensor& image, float low, float high, const ExampleKey& key,
                                          SourceLocation location) {
  TD_RETURN_IF_ERROR(CheckRange({"RandomContrast", location}, low, high));
  return AdjustContrast(image, Between(Draw(key, Use::kContrast)[0], low, high), location);
}

absl::StatusOr<HostTensor> RandomSaturation(const HostTensor& image, float low, float high, const ExampleKey& key,
                                            SourceLocation location) {
  TD_RETURN_IF_ERROR(CheckRange({"RandomSaturation", location}, low, high));
  return AdjustSaturation(image, Between(Draw(key, Use::kSaturation)[0], low, high), location);
}

absl::StatusOr<HostTensor> RandomRotate(const HostTensor& image, float max_radians, const ExampleKey& key,
                                        const RotateOptions& options, SourceLocation location) {
  TD_RETURN_IF_ERROR(CheckMax({"RandomRotate", location}, "max_radians", max_radians, INFINITY));
  return Rotate(image, Between(Draw(key, Use::kRotate)[0], -max_radians, max_radians), options, location);
}

}  // namespace tandem
