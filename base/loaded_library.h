// Libraries that a program uses, for finding the reason of a difference between machines.
#ifndef TANDEM_BASE_LOADED_LIBRARY_H_
#define TANDEM_BASE_LOADED_LIBRARY_H_

#include <string>

#include "tandem/base/api.h"

namespace TANDEM_API tandem {

// A library, loaded or looked for in vain.
struct LoadedLibrary {
  std::string name;     // "oneDNN"
  std::string version;  // "3.6.2"; empty if it is not loaded
  std::string file;     // the file that it was loaded from; the program itself if it is linked in
  std::string problem;  // why it is not loaded; empty if it is
};

// Returns the file that contains the code at this address: the library's for a function of a shared library; empty if
// unknown.
std::string FileOfCode(const void* address);

}  // namespace tandem

#endif  // TANDEM_BASE_LOADED_LIBRARY_H_
