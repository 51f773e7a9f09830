#include "runtime/cpu/onednn/list_libraries.h"

#include "absl/strings/str_cat.h"
#include "oneapi/dnnl/dnnl.h"

namespace tandem {

std::vector<LoadedLibrary> ListCpuLibraries() {
  const dnnl_version_t& version = *dnnl_version();
  return {{.name = "oneDNN",
           .version = absl::StrCat(version.major, ".", version.minor, ".", version.patch),
           .file = FileOfCode(reinterpret_cast<const void*>(&dnnl_version))}};
}

}  // namespace tandem
