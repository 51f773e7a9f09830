#include "tools/textures/textures.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/philox.h"
#include "base/status_macros.h"
#include "data/image/jpeg.h"

namespace tandem {
namespace {

constexpr int kPatches = 24;
constexpr double kPi = 3.14159265358979323846;
// The distance of stripes in pixels, for a picture of 512 x 496: wide enough to remain visible at 224 x 224.
constexpr double kStripeDistance = 12;
constexpr double kStripeStrength = 38;  // amplitude of the stripes in the middle of a patch, in grey levels

// Generates random numbers in [0, 1).
class Draws {
 public:
  Draws(uint64_t seed, int texture_class, int64_t index, uint32_t purpose)
      : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)},
        counter_{0, static_cast<uint32_t>(index), static_cast<uint32_t>(texture_class), purpose} {}
  float Next() {
    if (used_ == 4) {
      words_ = Philox4x32(counter_, key_);
      ++counter_[0];
      used_ = 0;
    }
    return UniformFloat(words_[used_++]);
  }

 private:
  const PhiloxKey key_;
  PhiloxCounter counter_, words_ = {};
  int used_ = 4;
};

// Adds smooth bright and dark bands along wavy lines to the picture.
void AddBands(int64_t height, int64_t width, Draws draws, std::vector<float>* image) {
  const double waves = 0.5 + draws.Next(), phase = 2 * kPi * draws.Next(), bend = height * 0.06 * draws.Next();
  const double distance = height * (0.15 + 0.15 * draws.Next()), start = 2 * kPi * draws.Next();
  for (int64_t x = 0; x < width; ++x) {
    const double shift = bend * std::sin(2 * kPi * waves * x / width + phase);
    for (int64_t y = 0; y < height; ++y) {
      (*image)[y * width + x] += 110 + 35 * std::sin(2 * kPi * (y + shift) / distance + start);
    }
  }
}

// Adds stripes, whose brightness changes along the direction (dy, dx), in a patch that fades out at its edge.
void AddPatch(int64_t height, int64_t width, double dy, double dx, Draws* draws, std::vector<float>* image) {
  const double radius = std::min(height, width) * (0.05 + 0.03 * draws->Next());
  const double centre_y = radius + (height - 2 * radius) * draws->Next();
  const double centre_x = radius + (width - 2 * radius) * draws->Next();
  const double phase = 2 * kPi * draws->Next(), distance = kStripeDistance * (0.85 + 0.3 * draws->Next());
  for (int64_t y = std::ceil(centre_y - radius); y <= centre_y + radius && y < height; ++y) {
    for (int64_t x = std::ceil(centre_x - radius); x <= centre_x + radius && x < width; ++x) {
      const double from_y = y - centre_y, from_x = x - centre_x;
      const double fade = 1 - (from_y * from_y + from_x * from_x) / (radius * radius);
      if (fade <= 0) continue;
      const double wave = std::sin(2 * kPi * (dy * from_y + dx * from_x) / distance + phase);
      (*image)[y * width + x] += kStripeStrength * fade * wave;
    }
  }
}

absl::Status CheckOptions(const TextureOptions& o) {
  if (std::min(o.height, o.width) < 64 || std::max(o.height, o.width) > 4096) {
    return absl::InvalidArgumentError(
        absl::StrCat("textures of ", o.height, " x ", o.width, " pixels; height and width must be from 64 to 4096"));
  }
  if (o.per_class < 1 || o.per_class > 1000000) {
    return absl::InvalidArgumentError(
        absl::StrCat(o.per_class, " textures of each class; the number must be from 1 to 1000000"));
  }
  if (o.quality < 1 || o.quality > 100) {
    return absl::InvalidArgumentError(absl::StrCat("quality is ", o.quality, "; it must be from 1 to 100"));
  }
  return absl::OkStatus();
}

}  // namespace

HostTensor MakeTexture(const TextureOptions& options, int texture_class, int64_t index) {
  const int64_t height = options.height, width = options.width;
  std::vector<float> image(height * width);
  AddBands(height, width, Draws(options.seed, texture_class, index, 0), &image);
  // For each class, the direction (dy, dx) across its stripes; y points downwards.
  constexpr double kHalf = 0.70710678118654752;
  constexpr double kAcross[][2] = {{1, 0}, {0, 1}, {kHalf, -kHalf}, {kHalf, kHalf}};
  Draws patches(options.seed, texture_class, index, 1);
  for (int i = 0; i < kPatches; ++i) {
    AddPatch(height, width, kAcross[texture_class][0], kAcross[texture_class][1], &patches, &image);
  }
  Draws noise(options.seed, texture_class, index, 2);
  HostTensor result(DType::kUInt8, {height, width, 1});
  for (int64_t i = 0; i < height * width; ++i) {
    const float value = image[i] + 40 * (noise.Next() - 0.5f);
    result.data<uint8_t>()[i] = static_cast<uint8_t>(std::clamp(value + 0.5f, 0.0f, 255.0f));
  }
  return result;
}

absl::Status WriteTextures(Env* env, const std::string& dir, const TextureOptions& options) {
  TD_RETURN_IF_ERROR(CheckOptions(options));
  for (int c = 0; c < 4; ++c) {
    const std::string folder = JoinPath(dir, kTextureClasses[c]);
    TD_RETURN_IF_ERROR(env->CreateDirs(folder));
    for (int64_t i = 0; i < options.per_class; ++i) {
      TD_ASSIGN_OR_RETURN(const std::string bytes,
                          EncodeJpeg(MakeTexture(options, c, i), {.quality = options.quality}));
      TD_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file,
                          env->CreateFile(JoinPath(folder, absl::StrFormat("%06d.jpeg", i))));
      TD_RETURN_IF_ERROR(file->Append(bytes));
      TD_RETURN_IF_ERROR(file->Close());
    }
  }
  return absl::OkStatus();
}

}  // namespace tandem
