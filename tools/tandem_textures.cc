// tandem-textures DIR: writes JPEG pictures of four classes of textures, one folder for each.
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "base/env.h"
#include "base/program.h"
#include "base/status_macros.h"
#include "tools/textures/textures.h"

ABSL_FLAG(int64_t, per_class, 1000, "Pictures of each of the four classes.");
ABSL_FLAG(int64_t, height, 496, "Height of a picture in pixels.");
ABSL_FLAG(int64_t, width, 512, "Width of a picture in pixels.");
ABSL_FLAG(uint64_t, seed, 1, "Other seeds make other pictures.");
ABSL_FLAG(int, quality, 90, "Of JPEG, 1 to 100.");

namespace tandem {
namespace {

absl::Status Textures(const std::vector<std::string>& arguments) {
  if (arguments.size() != 1) {
    return absl::InvalidArgumentError("usage: tandem-textures DIR [--per_class=N] [--seed=N] ...; --help");
  }
  const TextureOptions options = {.height = absl::GetFlag(FLAGS_height),
                                  .width = absl::GetFlag(FLAGS_width),
                                  .per_class = absl::GetFlag(FLAGS_per_class),
                                  .seed = absl::GetFlag(FLAGS_seed),
                                  .quality = absl::GetFlag(FLAGS_quality)};
  TD_RETURN_IF_ERROR(WriteTextures(Env::Default(), arguments[0], options));
  absl::PrintF("%d pictures of %d x %d in %s\n", 4 * options.per_class, options.height, options.width, arguments[0]);
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "writes JPEG pictures of four classes of textures (DIR)", tandem::Textures);
}
