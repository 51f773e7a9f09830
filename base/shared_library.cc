#include "base/shared_library.h"

#include <dlfcn.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/out_of_memory.h"

namespace tandem {

absl::StatusOr<SharedLibrary> SharedLibrary::Open(const LibrarySpec& spec, const std::string& path) {
  std::vector<std::string> names = spec.names;
  const char* variable = spec.variable.empty() ? nullptr : std::getenv(spec.variable.c_str());
  if (!path.empty()) {
    names = {path};
  } else if (variable != nullptr && *variable != 0) {
    names = {variable};
  }
  std::string reason;
  bool out_of_memory = false;
  for (const std::string& name : names) {
    errno = 0;
    // RTLD_LOCAL: symbols of one CUDA library must not be taken from another version of it.
    if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return SharedLibrary(spec, name, handle);
    // The dynamic linker's text need not say so.
    out_of_memory = out_of_memory || errno == ENOMEM;
    const char* error = dlerror();
    // The error for the first name is reported, because that name is the preferred one and its reason is what the user
    // can act on.
    if (reason.empty() && error != nullptr) reason = error;
  }
  const std::string message =
      absl::StrCat(spec.title, " cannot be loaded (tried ", absl::StrJoin(names, ", "), ": ", reason, "); ");
  out_of_memory = out_of_memory || absl::StrContains(reason, std::strerror(ENOMEM));
  if (out_of_memory) return OutOfMemoryError(absl::StrCat(message, "out of memory"));
  return absl::FailedPreconditionError(absl::StrCat(message, spec.remedy));
}

absl::StatusOr<void*> SharedLibrary::Symbol(const char* symbol) const {
  if (void* address = dlsym(handle_, symbol)) return address;
  return Error(absl::StrCat("is too old: it has no ", symbol));
}

absl::Status SharedLibrary::Error(const std::string& what) const {
  return absl::FailedPreconditionError(absl::StrCat(spec_.title, " (", name_, ") ", what, "; ", spec_.remedy));
}

}  // namespace tandem
