#include "base/loaded_library.h"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

namespace tandem {

std::string FileOfCode(const void* address) {
  Dl_info info = {};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return "";
  // dladdr returns a program's path as it was started and a library's path as it was searched for; both may contain
  // links.
  std::error_code error;
  const std::filesystem::path path = std::filesystem::canonical(info.dli_fname, error);
  return error ? info.dli_fname : path.string();
}

}  // namespace tandem
