// Libraries that a program uses, for those who look for the reason of a difference between machines.
#ifndef TANDEM_BASE_LOADED_LIBRARY_H_
#define TANDEM_BASE_LOADED_LIBRARY_H_

#include <string>

namespace tandem {

struct LoadedLibrary {
  std::string name;     // "oneDNN"
  std::string version;  // "3.6.2"; empty where it is not loaded
  std::string file;     // what it was loaded from; the program itself where it is linked into that
  std::string problem;  // why it is not loaded; empty where it is
};

// The file with the code at this address, in the case of a function of a library the library's; empty for others.
std::string FileOfCode(const void* address);

}  // namespace tandem

#endif  // TANDEM_BASE_LOADED_LIBRARY_H_
