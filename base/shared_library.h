// Libraries that are opened when they are needed: CUDA's, which not every machine has, and those that would make every
// start of a program longer.
#ifndef TANDEM_BASE_SHARED_LIBRARY_H_
#define TANDEM_BASE_SHARED_LIBRARY_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status_macros.h"

namespace tandem {

// The properties of a library that messages and the search need.
struct LibrarySpec {
  std::string title;               // "cuBLASLt"
  std::vector<std::string> names;  // tried in this order: {"libcublasLt.so.13", "libcublasLt.so.12"}
  std::string variable;  // environment variable with a path that is tried instead: "TANDEM_LIBCUBLASLT"; or ""
  std::string remedy;    // advice where it is missing: "install CUDA 12 or 13 (...)"
};

// A library that stays loaded for the life of the process: CUDA's libraries do not survive being unloaded.
class SharedLibrary {
 public:
  // Opens a library. `path`, where not empty, is opened instead of the specification's names.
  // Errors: FailedPrecondition, one sentence that names the library, what was tried, and the remedy; OutOfMemoryError.
  static absl::StatusOr<SharedLibrary> Open(const LibrarySpec& spec, const std::string& path = "");

  // Returns the address of a symbol. Errors: FailedPrecondition that says that the library lacks `symbol` and is
  // therefore too old.
  absl::StatusOr<void*> Symbol(const char* symbol) const;
  // Sets a pointer to the function `symbol`. Errors: those of Symbol.
  template <typename Function>
  absl::Status Bind(const char* symbol, Function*& function) const {
    TD_ASSIGN_OR_RETURN(void* address, Symbol(symbol));
    function = reinterpret_cast<Function*>(address);
    return absl::OkStatus();
  }

  const std::string& name() const { return name_; }  // the file that was opened
  void* handle() const { return handle_; }           // the handle from dlopen
  // Returns the error "cuBLASLt (libcublasLt.so.13) <what>; <remedy>".
  absl::Status Error(const std::string& what) const;

 private:
  SharedLibrary(LibrarySpec spec, std::string name, void* handle)
      : spec_(std::move(spec)), name_(std::move(name)), handle_(handle) {}

  LibrarySpec spec_;
  std::string name_;
  void* handle_;
};

}  // namespace tandem

#endif  // TANDEM_BASE_SHARED_LIBRARY_H_
