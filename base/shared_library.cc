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
  for (const std::string& name : names) {
    // RTLD_LOCAL: symbols of one CUDA library must not be taken from another version of it.
    if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return SharedLibrary(spec, name, handle);
    const char* error = dlerror();
    // The error for the first name is reported, because that name is the preferred one and its reason is what the user
    // can act on.
    if (reason.empty() && error != nullptr) reason = error;
  }
  const std::string message =
      absl::StrCat(spec.title, " cannot be loaded (tried ", absl::StrJoin(names, ", "), ": ", reason, "); ");
  // Only the dynamic linker's text says whether opening failed for lack of memory.
  if (absl::StrContains(reason, std::strerror(ENOMEM))) return OutOfMemoryError(absl::StrCat(message, "out of memory"));
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
