// What a compilation can be told besides the graph.
#ifndef TANDEM_PASSES_COMPILE_OPTIONS_H_
#define TANDEM_PASSES_COMPILE_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/precision.h"

namespace tandem {

// What one task of a cluster with parameter servers computes of a step.
struct StepPart {
  int servers = 0;  // 0: there are none, and the program is the whole step
  int server = -1;  // of this parameter server; -1: of a worker
};

struct CompileOptions {
  std::vector<std::string> devices = {"cpu:0"};  // one replica each
  int64_t batch_per_replica = 32;                // rows that one replica takes at most
  int lanes = 0;                                 // of the global batch; 0 = chosen from the global batch
  int microbatch_rows = 0;                       // examples per kernel call; 0 = chosen
  int64_t memory_limit = 0;                      // bytes for a device, see check_memory.cc; 0 = any
  std::string cache_dir;                         // "<model_dir>/compiled"; empty = no cache
  bool cache_required = false;                   // a cache that cannot be written is an error, not a warning
  int threads = 1;                               // for compiling kernels
  std::string target = "cpu:native";  // "cpu:x86-64-v3", "cpu:znver4", "cuda:sm_90", ... (target/compile_target.h)
  std::string machine_model;          // a file of tandem-calibrate; empty = the built-in one for the target
  bool tf32 = false;                  // on GPUs, convolutions and matmuls may round float32 operands to TensorFloat-32
  Precision precision = Precision::kFloat32;
  PrecisionLists precision_lists;         // with mixed_bfloat16
  std::vector<std::string> contractions;  // NAME:ALGORITHM, how some are to be computed (passes/contraction/choice.h)
  StepPart part;
  std::string cross_device_ops;  // a registered name (base/cross_device_ops.h), CPUs; empty = the reduction tree
  DType communication_dtype = DType::kFloat32;  // of gradients while replicas are combined, CPUs; or kBFloat16
  std::vector<std::string> disabled_passes;
  std::vector<std::string> print_before, print_after;  // pass names; IR goes to stderr
  std::string kernel_cache_dir;  // compiled kernels by fingerprint; empty = "kernels" in cache_dir, if there is one
  bool guard_buffers = false;    // values share no memory, and unused bytes follow each (runtime/cpu/buffer_guard.h)
  std::string sanitize;          // of kernels on CPUs: address, thread, none; empty = what the process is built with
  bool print_times = false;      // of passes and kernels, to stderr
  std::string crash_reproducer;  // a file for the program before the pass that fails (passes/pipeline.h); empty = none
};

}  // namespace tandem

#endif  // TANDEM_PASSES_COMPILE_OPTIONS_H_
