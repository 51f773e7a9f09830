// The options of a compilation: everything that it is told besides the graph.
#ifndef TANDEM_PASSES_BASE_COMPILE_OPTIONS_H_
#define TANDEM_PASSES_BASE_COMPILE_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/precision.h"

namespace tandem {

// The part of a step that one task of a cluster with parameter servers computes.
struct StepPart {
  int servers = 0;  // number of parameter servers; 0: none, and the program is the whole step
  int server = -1;  // number of the parameter server that this part is for; -1: it is for a worker
};

struct CompileOptions {
  std::vector<std::string> devices = {"cpu:0"};  // each device runs one replica
  int64_t batch_per_replica = 32;                // most rows (examples) of one replica in a step
  int lanes = 0;                                 // lanes that the global batch is cut into; 0 = chosen from its size
  int microbatch_rows = 0;                       // examples per kernel call; 0 = chosen
  int64_t memory_limit = 0;                      // bytes of memory that a program may use on a device; 0 = no limit
  std::string cache_dir;                         // "<model_dir>/compiled"; empty = no cache
  bool cache_required = false;                   // a cache that cannot be written is an error, not a warning
  int threads = 1;                               // threads that compile kernels
  // "cpu:x86-64-v3", "cpu:znver4", "cuda:sm_90", ... (machine_code/compile_target.h)
  std::string target = "cpu:native";
  std::string machine_model;  // a file of tandem-calibrate; empty = the built-in one for the target
  bool tf32 = false;          // on GPUs, convolutions and matmuls may round float32 operands to TensorFloat-32
  Precision precision = Precision::kFloat32;
  PrecisionLists precision_lists;         // ops moved to other lists of mixed_bfloat16
  std::vector<std::string> contractions;  // NAME:ALGORITHM: forces algorithms (passes/contraction/choice.h)
  StepPart part;
  std::string cross_device_ops;  // a registered name (base/cross_device_ops.h), CPUs only; empty = the reduction tree
  DType communication_dtype = DType::kFloat32;  // type in which replicas combine gradients; kBFloat16 on CPUs only
  std::vector<std::string> disabled_passes;
  // Names of passes before or after which the IR is printed to stderr.
  std::vector<std::string> print_before, print_after;
  // Directory that keeps compiled kernels by fingerprint; empty = "kernels" in cache_dir, if that is set
  std::string kernel_cache_dir;
  // To find writes out of bounds: values that are placed by lifetime share no memory, and watched bytes lie between
  // them (runtime/cpu/run/buffer_guard.h).
  bool guard_buffers = false;
  std::string sanitize;          // sanitizer of CPU kernels: address, thread, none; empty = this process's own
  bool print_times = false;      // print the times of passes and kernels to stderr
  std::string crash_reproducer;  // file that gets the program before the pass that fails (passes/pipeline/pipeline.h)
};

}  // namespace tandem

#endif  // TANDEM_PASSES_BASE_COMPILE_OPTIONS_H_
