// Serialisation: the compiled module as the index and segments of an executable.
#ifndef TANDEM_PASSES_SERIALIZE_H_
#define TANDEM_PASSES_SERIALIZE_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/executable.h"

namespace tandem {

// Machine code of a kernel.
struct KernelCode {
  std::string name;    // of its func.func
  std::string symbol;  // of its entry
  std::string elf_object;
};

struct SerializeOptions {
  std::string mode;                                     // "train", "eval", "predict"
  std::string key;                                      // cache key
  std::string producer;                                 // compiler build
  std::string target;                                   // CPU features that the kernels need, separated by blanks
  std::vector<std::pair<std::string, std::string>> ir;  // phase name and IR text, in order
};

// `module` is at the end of phase `memory`; `kernels` holds code for every kernel function in it.
absl::StatusOr<std::string> SerializeExecutable(mlir::ModuleOp module, const std::vector<KernelCode>& kernels,
                                                const SerializeOptions& options);

}  // namespace tandem

#endif  // TANDEM_PASSES_SERIALIZE_H_
