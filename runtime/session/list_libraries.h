// The libraries with which device classes compute. Code that uses such a library registers a lister when it is linked
// in.
#ifndef TANDEM_RUNTIME_SESSION_LIST_LIBRARIES_H_
#define TANDEM_RUNTIME_SESSION_LIST_LIBRARIES_H_

#include <functional>
#include <vector>

#include "base/loaded_library.h"

namespace tandem {

// Returns the libraries of all device classes that are linked in, in the order of their names. Loads those that are
// found at run time.
std::vector<LoadedLibrary> ListLibraries();

using LibraryLister = std::function<std::vector<LoadedLibrary>()>;
// Registers a lister; called while the process starts.
bool RegisterLibraryLister(LibraryLister lister);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_SESSION_LIST_LIBRARIES_H_
