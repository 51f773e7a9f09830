// How the contractions of a program are computed, and why not otherwise.
#ifndef TANDEM_TOOLS_DUMP_CONTRACTIONS_H_
#define TANDEM_TOOLS_DUMP_CONTRACTIONS_H_

#include <string>

#include "absl/status/statusor.h"
#include "passes/analysis/machine_model.h"
#include "runtime/executable/executable.h"

namespace tandem {

// For every contraction of the program how it is computed, and why not by each of the other candidates; every library
// call of a CPU program with its sizes, its algorithm, and for every other algorithm that computes such calls why it is
// not taken, by `machine`; and the kernels that hold a convolution or a product. The libraries of a GPU choose by
// themselves: a GPU program's calls are listed with their plans.
absl::StatusOr<std::string> Contractions(const Executable& executable, const MachineModel& machine);

}  // namespace tandem

#endif  // TANDEM_TOOLS_DUMP_CONTRACTIONS_H_
