// tandem-textures DIR: writes JPEG pictures of four classes of textures, one folder for each.
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/env.h"
#include "base/flag_table.h"
#include "base/status_macros.h"
#include "base/tool_program.h"
#include "tools/textures/textures.h"
#include "tools/tool_functions.h"

namespace tandem {
namespace {

struct TexturesFlags : FlagTable {
  Flag<int64_t> per_class{this, "per_class", 1000, "Pictures of each of the four classes."};
  Flag<int64_t> height{this, "height", 496, "Height of a picture in pixels."};
  Flag<int64_t> width{this, "width", 512, "Width of a picture in pixels."};
  Flag<uint64_t> seed{this, "seed", 1, "Other seeds make other pictures."};
  Flag<int> quality{this, "quality", 90, "Of JPEG, 1 to 100."};
};

absl::Status Textures(const TexturesFlags& flags, const std::vector<std::string>& arguments) {
  if (arguments.size() != 1) {
    return absl::InvalidArgumentError("usage: tandem-textures DIR [--per_class=N] [--seed=N] ...; --help");
  }
  const TextureOptions options = {.height = *flags.height,
                                  .width = *flags.width,
                                  .per_class = *flags.per_class,
                                  .seed = *flags.seed,
                                  .quality = *flags.quality};
  TD_RETURN_IF_ERROR(WriteTextures(Env::Default(), arguments[0], options));
  absl::PrintF("%d pictures of %d x %d in %s\n", 4 * options.per_class, options.height, options.width, arguments[0]);
  return absl::OkStatus();
}

}  // namespace

int TandemTextures(int argc, char** argv) {
  return RunToolProgram<TexturesFlags>(argc, argv, "writes JPEG pictures of four classes of textures (DIR)", Textures);
}

}  // namespace tandem
