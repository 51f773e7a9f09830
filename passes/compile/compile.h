// The compiler: from a graph to an executable. Free of MLIR types.
#ifndef TANDEM_PASSES_COMPILE_COMPILE_H_
#define TANDEM_PASSES_COMPILE_COMPILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/graph_builder.h"
#include "passes/base/compile_options.h"
#include "runtime/executable/executable.h"

namespace tandem {

// Compiles `graph` for `mode` ("train", "eval", "predict"). With a cache, an executable of the same graph, options,
// target and compiler build is loaded instead; a damaged cache entry is reported and compiled anew. Files are written
// to a temporary name and renamed. Errors: the graph's own first error; exit code 70 (compile error) with the op and
// the user's file and line.
//
// The environment variable TANDEM_FLAGS adds to the options of every compilation of a process, for example
//   TANDEM_FLAGS="--print-ir-after=td-form-fusions --disable-pass=td-schedule"
// (tandem_flags.h lists all). With IR to print the graph is compiled even when it is in the cache. InvalidArgument for
// an unknown option or pass.
absl::StatusOr<std::shared_ptr<const Executable>> CompileGraph(GraphBuilder& graph, absl::string_view mode,
                                                               const CompileOptions& options);

// Returns name and value of every part of `options` and TANDEM_FLAGS that an executable depends on, without graph,
// target and machine model: for messages that say how two programs differ.
std::vector<std::pair<std::string, std::string>> OptionParts(const CompileOptions& options);

// Returns the CompileOptions::target for GPUs of compute capability sm / 10, for example "cuda:sm_90" for 90: the
// newest known target that they run. FailedPrecondition (exit code 2) for a GPU that is too old.
absl::StatusOr<std::string> GpuTargetName(int sm);

// Returns "cpu" or "gpu" for a CompileOptions::target. InvalidArgument (exit code 2), listing all targets, for one that
// does not exist.
absl::StatusOr<std::string> DeviceClassOfTarget(absl::string_view target);

// Returns how many graphs this process compiled; those loaded from a cache do not count.
int64_t CompileCount();

}  // namespace tandem

#endif  // TANDEM_PASSES_COMPILE_COMPILE_H_
