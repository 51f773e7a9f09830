// The libraries with which CPUs compute.
#ifndef TANDEM_RUNTIME_CPU_ONEDNN_LIST_LIBRARIES_H_
#define TANDEM_RUNTIME_CPU_ONEDNN_LIST_LIBRARIES_H_

#include <vector>

#include "base/loaded_library.h"

namespace tandem {

// Returns oneDNN.
std::vector<LoadedLibrary> ListCpuLibraries();

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_ONEDNN_LIST_LIBRARIES_H_
