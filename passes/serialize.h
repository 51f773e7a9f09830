// Serialisation: the compiled module as the index and segments of an executable.
#ifndef TANDEM_PASSES_SERIALIZE_H_
#define TANDEM_PASSES_SERIALIZE_H_

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
#include "runtime/executable.h"
#include "runtime/format/index.h"
#include "runtime/kernel_library.h"

namespace tandem {

// Machine code of a kernel.
struct KernelCode {
  std::string name;          // of its func.func
  std::string symbol;        // of its entry
  std::string elf_object;    // for CPUs
  format::GpuLaunch launch;  // for GPUs
};

struct GpuImage {
  int arch = 0;     // 75, 90
  std::string ptx;  // all kernels
};

// Nothing where the library needs no plan, or cannot make it here: then it is made when the executable is loaded.
using LibraryPlanner = std::function<absl::StatusOr<std::optional<LibraryPlan>>(const format::LibraryCall&)>;

struct SerializeOptions {
  std::string mode;      // "train", "eval", "predict"
  std::string key;       // cache key
  std::string producer;  // compiler build
  std::string target;    // CPU features that the kernels need, separated by blanks
  std::string target_name;
  format::InstructionSet instructions = format::InstructionSet::kAny;
  std::vector<std::pair<std::string, std::string>> ir;  // phase name and IR text, in order
  // What the text of the phase that the reference interpreter runs has names for.
  std::map<std::string, mlir::DenseElementsAttr> constants;
  std::map<std::string, uint64_t> indices;  // of inputs that are: see runtime/format/index.td
  std::vector<std::string> warnings;
  std::vector<GpuImage> images;  // for GPUs, ascending
  LibraryPlanner planner;        // for GPUs; may be empty
};

// `module` is at the end of phase `memory`; `kernels` holds code for every kernel function in it. A module for a
// target without lanes gets the schedule of its streams here. The bytes are those of PackExecutable.
absl::StatusOr<HostTensor> SerializeExecutable(mlir::ModuleOp module, const std::vector<KernelCode>& kernels,
                                               const SerializeOptions& options);

}  // namespace tandem

#endif  // TANDEM_PASSES_SERIALIZE_H_
