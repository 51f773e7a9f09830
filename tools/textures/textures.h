// Pictures to train on where no data set is at hand: four classes of textures that only differ locally.
//
// A picture is grey: smooth bands as of tissue, noise, and some dozen round patches at random places with stripes.
// Bands, noise, number, places and size of the patches, and the stripes' distance and strength have the same
// distribution in all classes, which differ in nothing but the direction of the stripes: no mean, histogram or single
// pixel tells them apart, filters of a few pixels do.
#ifndef TANDEM_TOOLS_TEXTURES_TEXTURES_H_
#define TANDEM_TOOLS_TEXTURES_TEXTURES_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/env.h"
#include "base/host_tensor.h"

namespace tandem {

// The direction of the stripes of each class, and its folder's name.
inline constexpr absl::string_view kTextureClasses[] = {"horizontal", "vertical", "falling", "rising"};

struct TextureOptions {
  int64_t height = 496, width = 512;
  int64_t per_class = 1000;
  uint64_t seed = 1;
  int quality = 90;  // of JPEG
};

// Picture `index` of class 0 to 3 as uint8 [height, width, 1]; it depends on seed, class, index and size alone.
HostTensor MakeTexture(const TextureOptions& options, int texture_class, int64_t index);

// Writes per_class pictures DIR/CLASS/000000.jpeg, ... of each class; folders are made. InvalidArgument for sizes
// outside 64 to 4096, a number outside 1 to 1000000 and a quality outside 1 to 100; the errors of writing name the
// file.
absl::Status WriteTextures(Env* env, const std::string& dir, const TextureOptions& options);

}  // namespace tandem

#endif  // TANDEM_TOOLS_TEXTURES_TEXTURES_H_
