#include "runtime/session/kernel_library.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"

namespace tandem {
namespace {

std::map<std::string, const KernelLibrary*, std::less<>>& Libraries() {
  static auto& libraries = *new std::map<std::string, const KernelLibrary*, std::less<>>();
  return libraries;
}

}  // namespace

absl::StatusOr<const KernelLibrary*> KernelLibraryOf(absl::string_view device_class) {
  auto found = Libraries().find(std::string(device_class));
  if (found != Libraries().end()) return found->second;
  return WithExitCode(absl::FailedPreconditionError(absl::StrCat(
                          "this program was built without kernel libraries for devices of class '", device_class, "'")),
                      kExitUsage);
}

bool RegisterKernelLibrary(absl::string_view device_class, const KernelLibrary* library) {
  return Libraries().emplace(std::string(device_class), library).second;
}

}  // namespace tandem
