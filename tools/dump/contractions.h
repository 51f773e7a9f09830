// How the contractions of a program are computed, and why not otherwise.
#ifndef TANDEM_TOOLS_DUMP_CONTRACTIONS_H_
#define TANDEM_TOOLS_DUMP_CONTRACTIONS_H_

#include <string>

#include "absl/status/statusor.h"
#include "passes/analysis/machine_model.h"
#include "runtime/executable.h"

namespace tandem {

// Every library call of a CPU program with its sizes, the algorithm that the compiler chose, and for every other
// algorithm that computes such calls why it is not taken, by `machine`; then the kernels that hold a convolution or a
// product, and what the compiler weighed for Winograd's algorithm. The libraries of a GPU choose by themselves: a GPU
// program's calls are listed with their plans.
absl::StatusOr<std::string> Contractions(const Executable& executable, const MachineModel& machine);

}  // namespace tandem

#endif  // TANDEM_TOOLS_DUMP_CONTRACTIONS_H_
