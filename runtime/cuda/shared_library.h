// Libraries that are found when the program runs: CUDA's, none of which the build needs.
#ifndef TANDEM_RUNTIME_CUDA_SHARED_LIBRARY_H_
#define TANDEM_RUNTIME_CUDA_SHARED_LIBRARY_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tandem {

// What messages and the search need to know of a library.
struct LibrarySpec {
  std::string title;               // "cuBLASLt"
  std::vector<std::string> names;  // tried in this order: {"libcublasLt.so.13", "libcublasLt.so.12"}
  std::string variable;            // environment variable with a path that is tried instead: "TANDEM_LIBCUBLASLT"
  std::string remedy;              // what to do where it is missing: "install CUDA 12 or 13 (...)"
};

// A library that stays loaded for the life of the process: CUDA's libraries do not survive being unloaded.
class SharedLibrary {
 public:
  // `path`, where not empty, is opened instead of what the specification names.
  // Errors: FailedPrecondition, one sentence that names the library, what was tried, and the remedy.
  static absl::StatusOr<SharedLibrary> Open(const LibrarySpec& spec, const std::string& path = "");

  // Errors: FailedPrecondition that says that the library lacks `symbol` and is therefore too old.
  absl::StatusOr<void*> Symbol(const char* symbol) const;

  const std::string& name() const { return name_; }  // the file that was opened
  void* handle() const { return handle_; }           // of dlopen
  // "cuBLASLt (libcublasLt.so.13) <what>; <remedy>".
  absl::Status Error(const std::string& what) const;

 private:
  SharedLibrary(LibrarySpec spec, std::string name, void* handle)
      : spec_(std::move(spec)), name_(std::move(name)), handle_(handle) {}

  LibrarySpec spec_;
  std::string name_;
  void* handle_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_SHARED_LIBRARY_H_
