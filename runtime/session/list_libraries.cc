#include "runtime/session/list_libraries.h"

#include <algorithm>
#include <utility>

namespace tandem {
namespace {

std::vector<LibraryLister>& LibraryListers() {
  static std::vector<LibraryLister>& listers = *new std::vector<LibraryLister>();
  return listers;
}

}  // namespace

std::vector<LoadedLibrary> ListLibraries() {
  std::vector<LoadedLibrary> libraries;
  for (const LibraryLister& lister : LibraryListers()) {
    for (LoadedLibrary& library : lister()) libraries.push_back(std::move(library));
  }
  std::sort(libraries.begin(), libraries.end(),
            [](const LoadedLibrary& a, const LoadedLibrary& b) { return a.name < b.name; });
  return libraries;
}

bool RegisterLibraryLister(LibraryLister lister) {
  LibraryListers().push_back(std::move(lister));
  return true;
}

}  // namespace tandem
