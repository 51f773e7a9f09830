// StoredGraph: the graph of a program at the end of a phase, read out of the text that its executable keeps.
#ifndef TANDEM_PASSES_SERIALIZE_STORED_GRAPH_H_
#define TANDEM_PASSES_SERIALIZE_STORED_GRAPH_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/executable/executable.h"

namespace tandem {

class StoredGraph {
 public:
  // FailedPrecondition if the executable has no text of this phase, DataLoss if it cannot be read: its signature is
  // checked, and large constants get their numbers. Call it inside an LlvmMemoryScope.
  static absl::StatusOr<std::unique_ptr<StoredGraph>> Read(const Executable& executable, const std::string& phase);

  mlir::func::FuncOp step() const { return step_; }

 private:
  StoredGraph();

  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  mlir::func::FuncOp step_;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_SERIALIZE_STORED_GRAPH_H_
