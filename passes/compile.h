// The compiler: from a graph to an executable. Free of MLIR types.
#ifndef TANDEM_PASSES_COMPILE_H_
#define TANDEM_PASSES_COMPILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/precision.h"
#include "graph/graph_builder.h"
#include "runtime/executable.h"

namespace tandem {

struct CompileOptions {
  std::vector<std::string> devices = {"cpu:0"};  // one replica each
  int64_t batch_per_replica = 32;                // rows that one replica takes at most
  int lanes = 0;                                 // of the global batch; 0 = chosen from the global batch
  int shard_rows = 0;                            // examples per kernel call; 0 = chosen
  int64_t memory_limit = 0;                      // bytes for a device, see check_memory.cc; 0 = any
  std::string cache_dir;                         // "<model_dir>/compiled"; empty = no cache
  bool cache_required = false;                   // a cache that cannot be written is an error, not a warning
  int threads = 1;                               // for compiling kernels
  std::string target = "cpu:native";             // "cpu:x86-64-v3", "cpu:znver4", "cuda:sm_90", ... (passes/target.h)
  std::string machine_model;                     // a file of tandem-calibrate; empty = the built-in one for the target
  bool tf32 = false;  // on GPUs, convolutions and matmuls may round float32 operands to TensorFloat-32
  Precision precision = Precision::kFloat32;
  PrecisionLists precision_lists;  // with mixed_bfloat16
  std::vector<std::string> disabled_passes;
  std::vector<std::string> print_before, print_after;  // pass names; IR goes to stderr
  std::string kernel_cache_dir;  // compiled kernels by fingerprint; empty = "kernels" in cache_dir, if there is one
  bool guard_buffers = false;    // values share no memory, and unused bytes follow each (runtime/cpu/buffer_guard.h)
  std::string sanitize;          // of kernels on CPUs: address, thread, none; empty = what the process is built with
  bool print_times = false;      // of passes and kernels, to stderr
  std::string crash_reproducer;  // a file for the program before the pass that fails (passes/pipeline.h); empty = none
};

// Compiles `graph` for `mode` ("train", "eval", "predict"). With a cache, an executable of the same graph, options,
// target and compiler build is loaded instead; a damaged cache entry is reported and compiled anew; files are written
// to a temporary name and renamed. Errors: the graph's own first error; exit code 70 (compile error) with the op and
// the user's file and line.
//
// The environment variable TANDEM_FLAGS adds to the options of every compilation of a process, for example
//   TANDEM_FLAGS="--print-ir-after=td-form-fusions --disable-pass=td-schedule"
// (tandem_flags.h lists all). With IR to print the graph is compiled even when it is in the cache. InvalidArgument for
// an unknown option or pass.
absl::StatusOr<std::shared_ptr<const Executable>> CompileGraph(GraphBuilder& graph, absl::string_view mode,
                                                               const CompileOptions& options);

// CompileOptions::target for GPUs of compute capability sm / 10, for example "cuda:sm_90" for 90: the newest known one
// that they run. FailedPrecondition (exit code 2) for a GPU that is too old.
absl::StatusOr<std::string> GpuTargetName(int sm);

// InvalidArgument (exit code 2), listing all, for a CompileOptions::target that does not exist. Sets `gpu`, unless it
// is null, to whether the target is one for GPUs.
absl::Status CheckTarget(absl::string_view target, bool* gpu);

// How often this process really compiled (not loaded) a graph.
int64_t CompileCount();

}  // namespace tandem

#endif  // TANDEM_PASSES_COMPILE_H_
