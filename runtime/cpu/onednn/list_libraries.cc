// Lists oneDNN for ListLibraries.
#include "runtime/session/list_libraries.h"

#include "absl/strings/str_cat.h"
#include "oneapi/dnnl/dnnl.h"

namespace tandem {
namespace {

std::vector<LoadedLibrary> ListOneDnn() {
  const dnnl_version_t& version = *dnnl_version();
  return {{.name = "oneDNN",
           .version = absl::StrCat(version.major, ".", version.minor, ".", version.patch),
           .file = FileOfCode(reinterpret_cast<const void*>(&dnnl_version))}};
}

[[maybe_unused]] const bool kRegistered = RegisterLibraryLister(ListOneDnn);

}  // namespace
}  // namespace tandem
