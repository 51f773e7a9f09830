// Explains how the contractions (convolutions and matrix products) of a program are computed, and why not otherwise.
#ifndef TANDEM_TOOLS_DUMP_CONTRACTIONS_H_
#define TANDEM_TOOLS_DUMP_CONTRACTIONS_H_

#include <string>

#include "absl/status/statusor.h"
#include "passes/analysis/machine_model.h"
#include "runtime/executable/executable.h"

namespace tandem {

// Describes for every contraction of the program which algorithm computes it, and why each other candidate was not
// chosen. For a CPU program, lists every library call with its sizes and its algorithm, and says, according to
// `machine`, why each other possible algorithm was not chosen; also lists the kernels that contain a convolution or a
// product. The libraries of a GPU choose algorithms by themselves, so calls of a GPU program are listed with the plans
// that they have chosen.
absl::StatusOr<std::string> Contractions(const Executable& executable, const MachineModel& machine);

}  // namespace tandem

#endif  // TANDEM_TOOLS_DUMP_CONTRACTIONS_H_
