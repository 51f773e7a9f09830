// Decides which parameter server keeps which variables of a step, or rows of them, and what it computes
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
// Returns `type` with so many rows, or unchanged if `rows` is 0.
mlir::RankedTensorType WithRows(mlir::Type type, int64_t rows);

// The rows of a value that are sent to a server; `rows` 0: the whole value.
struct SentRows {
  mlir::Value value;
  int64_t first_row = 0, rows = 0;

  mlir::RankedTensorType Type() const { return WithRows(value.getType(), rows); }
};

std::vector<VariableSpec> VariablesOf(mlir::ModuleOp module);

// A partition of the step over servers. Owners 0 to servers - 1 are servers; each owner after that is a variable, with
// its slots, whose rows several servers share.
class Placement {
 public:
  // `variables`: all variables of the step.
  Placement(const std::vector<VariableSpec>& variables, mlir::func::FuncOp step, int servers);

  // The parts of all variables, as PlaceVariables makes them.
  const std::vector<PlacedPart>& parts() const { return parts_; }
  const StepPartition& partition() const { return partition_; }
  // Returns the part of `variable` that `server` has; null where it has none.
  const PlacedPart* PartOf(int server, llvm::StringRef variable) const;
  // Returns the owners whose work `server` does: itself, with null, and each owner whose variable it has some rows of,
  // with that part.
  std::map<int, const PlacedPart*> OwnersAt(int server) const;
  // Returns what `server` reads of other owners and workers, each with the owners at the server that read it.
  std::vector<std::pair<SentRows, std::set<int>>> SentTo(int server) const;

 private:
  std::map<std::string, int> Owners(const std::vector<VariableSpec>& variables, int servers);

  const std::vector<PlacedPart> parts_;
  std::map<std::string, int> spread_;  // by variable of which servers have some rows: its owner
  const StepPartition partition_;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_PHASES_INPUT_PLACEMENT_H_
