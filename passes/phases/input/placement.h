// Decides which parameter server keeps which variables of a step, or which of their rows, and which ops it computes
// (td-partition-step).
#ifndef TANDEM_PASSES_PHASES_INPUT_PLACEMENT_H_
#define TANDEM_PASSES_PHASES_INPUT_PLACEMENT_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/parameter_servers.h"
#include "llvm/ADT/StringRef.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "passes/phases/input/step_partition.h"

namespace tandem {

inline bool IsScalar(mlir::Value value) { return mlir::cast<mlir::RankedTensorType>(value.getType()).getRank() == 0; }
// Returns `type` with `rows` rows; unchanged if `rows` is 0.
mlir::RankedTensorType WithRows(mlir::Type type, int64_t rows);

// The rows of a value that are sent to a server; `rows` 0: the whole value.
struct SentRows {
  mlir::Value value;
  int64_t first_row = 0, rows = 0;

  mlir::RankedTensorType Type() const { return WithRows(value.getType(), rows); }
};

std::vector<VariableSpec> VariablesOf(mlir::ModuleOp module);

// How servers share a step. Values are computed by owners: owners 0 to servers - 1 are the servers themselves; each
// further owner stands for a variable, with its slots, whose rows several servers share.
class Placement {
 public:
  // `variables`: all variables of the step.
  Placement(const std::vector<VariableSpec>& variables, mlir::func::FuncOp step, int servers);

  // The parts of all variables, as PlaceVariables makes them.
  const std::vector<PlacedPart>& parts() const { return parts_; }
  const StepPartition& partition() const { return partition_; }
  // Returns the part of `variable` that `server` keeps; null if it keeps none.
  const PlacedPart* PartOf(int server, llvm::StringRef variable) const;
  // Returns the owners whose ops `server` computes: itself (with null), and each owner of a variable of which it keeps
  // some rows (with that part).
  std::map<int, const PlacedPart*> OwnersAt(int server) const;
  // Returns the values, or rows of values, that are sent to `server` from workers and other owners. With each come the
  // owners on the server that read it.
  std::vector<std::pair<SentRows, std::set<int>>> SentTo(int server) const;

 private:
  std::map<std::string, int> Owners(const std::vector<VariableSpec>& variables, int servers);

  const std::vector<PlacedPart> parts_;
  std::map<std::string, int> spread_;  // owner of each variable whose rows several servers share
  const StepPartition partition_;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_PHASES_INPUT_PLACEMENT_H_
