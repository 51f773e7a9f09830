// Generates pictures to train on without a data set: four classes of textures that differ only locally.
//
// A picture is grey: smooth bands that look like tissue, noise, and a few dozen round patches with stripes at random
// places. Bands, noise, the number, places and sizes of the patches, and the stripes' distance and strength have the
// same distribution in all classes. Only the direction of the stripes differs: no mean, histogram or single pixel tells
// the classes apart, but filters of a few pixels do.
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

// The directions of the stripes; also the names of the classes' folders.
inline constexpr absl::string_view kTextureClasses[] = {"horizontal", "vertical", "falling", "rising"};

struct TextureOptions {
  int64_t height = 496, width = 512;
  int64_t per_class = 1000;
  uint64_t seed = 1;
  int quality = 90;  // quality of the JPEG compression
};

// Returns picture `index` of class 0 to 3 as uint8 [height, width, 1]; it depends only on seed, class, index and size.
HostTensor MakeTexture(const TextureOptions& options, int texture_class, int64_t index);

// Writes per_class pictures DIR/CLASS/000000.jpeg, ... of each class; creates folders as needed. InvalidArgument for
// sizes outside 64 to 4096, a number outside 1 to 1000000 and a quality outside 1 to 100; errors of writing name the
// file.
absl::Status WriteTextures(Env* env, const std::string& dir, const TextureOptions& options);

}  // namespace tandem

#endif  // TANDEM_TOOLS_TEXTURES_TEXTURES_H_
