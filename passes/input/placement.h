// Which parameter server keeps which variables of a step, or rows of them, and what it computes (td-partition-step).
#ifndef TANDEM_PASSES_INPUT_PLACEMENT_H_
#define TANDEM_PASSES_INPUT_PLACEMENT_H_

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
#include "passes/input/step_partition.h"

namespace tandem {

inline bool IsScalar(mlir::Value value) { return mlir::cast<mlir::RankedTensorType>(value.getType()).getRank() == 0; }
// `type` with so many rows; as it is for 0.
mlir::RankedTensorType WithRows(mlir::Type type, int64_t rows);

// Rows of a value that go to a server, or the whole (`rows` 0).
struct SentRows {
  mlir::Value value;
  int64_t first_row = 0, rows = 0;

  mlir::RankedTensorType Type() const { return WithRows(value.getType(), rows); }
};

std::vector<VariableSpec> VariablesOf(mlir::ModuleOp module);

// A partition over servers: an owner is a server, or, behind all servers, a variable with its slots of which several
// servers have some rows.
class Placement {
 public:
  // `variables`: all of the step.
  Placement(const std::vector<VariableSpec>& variables, mlir::func::FuncOp step, int servers);

  // Of all variables (PlaceVariables).
  const std::vector<PlacedPart>& parts() const { return parts_; }
  const StepPartition& partition() const { return partition_; }
  // The part that `server` has of `variable`; null where it has none.
  const PlacedPart* PartOf(int server, llvm::StringRef variable) const;
  // Owners whose work `server` does, each for some rows only: a part of the owner's variable; null for its own.
  std::map<int, const PlacedPart*> OwnersAt(int server) const;
  // What `server` reads of others, each with the owners that read it.
  std::vector<std::pair<SentRows, std::set<int>>> SentTo(int server) const;

 private:
  std::map<std::string, int> Owners(const std::vector<VariableSpec>& variables, int servers);

  const std::vector<PlacedPart> parts_;
  std::map<std::string, int> spread_;  // owners of variables of which servers have some rows
  const StepPartition partition_;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_INPUT_PLACEMENT_H_
