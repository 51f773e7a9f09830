// Serialises a compiled module as the index and segments of an executable.
#ifndef TANDEM_PASSES_SERIALIZE_SERIALIZE_H_
#define TANDEM_PASSES_SERIALIZE_SERIALIZE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/host_tensor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/executable/executable.h"
#include "runtime/format/index.h"
#include "runtime/session/kernel_library.h"

namespace tandem {

// The machine code of a kernel.
struct KernelCode {
  std::string name;          // name of the kernel's func.func
  std::string symbol;        // symbol of its entry point
  std::string elf_object;    // for CPUs: the object file with the kernel's code
  format::GpuLaunch launch;  // for GPUs: grid and blocks of its launches
};

struct GpuImage {
  int arch = 0;     // compute capability x 10: 75, 90
  std::string ptx;  // PTX of all kernels
};

// Plans a library call when a program is compiled. Returns nothing if the library needs no plan, or if it cannot be
// made on this machine; then it is made when the executable is loaded.
using LibraryPlanner = std::function<absl::StatusOr<std::optional<LibraryPlan>>(const format::LibraryCall&)>;

struct SerializeOptions {
  std::string mode;      // "train", "eval", "predict"
  std::string key;       // key of the executable in the cache of compiled programs
  std::string producer;  // build of the compiler that made it
  std::string target;    // CPU features that the kernels need, separated by blanks
  std::string target_name;
  format::InstructionSet instructions = format::InstructionSet::kAny;
  // IR at the end of each phase: name of the phase and text, in order.
  std::vector<std::pair<std::string, std::string>> ir;
  // The constants that have names in the text of the phase that the reference interpreter runs.
  std::map<std::string, mlir::DenseElementsAttr> constants;
  // For each input that ops take as indices: how many index values are valid (Input.indices, runtime/format/index.td).
  std::map<std::string, uint64_t> indices;
  std::vector<std::string> warnings;
  std::vector<GpuImage> images;  // for GPUs: the PTX by ascending architecture
  LibraryPlanner planner;        // for GPUs: makes the plans of library calls; may be empty
};

// Returns the bytes of the executable, as PackExecutable makes them. `module` has passed phase `commands`; `kernels`
// holds code for every kernel function in it. A program for a target without lanes gets the schedule of its streams
// here.
absl::StatusOr<HostTensor> SerializeExecutable(mlir::ModuleOp module, const std::vector<KernelCode>& kernels,
                                               const SerializeOptions& options);

}  // namespace tandem

#endif  // TANDEM_PASSES_SERIALIZE_SERIALIZE_H_
