// Gradients as a graph-to-graph function: appends the td ops that compute d loss / d x.
#ifndef TANDEM_GRAPH_GRADIENTS_GRADIENTS_H_
#define TANDEM_GRAPH_GRADIENTS_GRADIENTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/source_location.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace tandem::internal {

class GraphModule;

// The op without a gradient, and a message with the ops from the loss down to it.
struct GradientError {
  mlir::Operation* op = nullptr;
  std::string message;
};

// Appends, at the insertion point of `b`, ops that compute the gradients of `loss` (a floating-point scalar) with
// respect to `xs`, all in the block of the insertion point. A gradient is null if the loss does not depend on x. New
// ops are located at "gradients/<forward op>". Contributions to one value are added in reverse order of the forward
// ops. Returns false and fills `error` when an op on the path has no gradient.
bool BuildGradients(mlir::OpBuilder& b, mlir::Value loss, llvm::ArrayRef<mlir::Value> xs,
                    std::vector<mlir::Value>* gradients, GradientError* error);

// Like the function above, but appends the ops at the end of the graph under construction and gives them names.
absl::StatusOr<std::vector<mlir::Value>> BuildGradients(GraphModule& module, mlir::Value loss,
                                                        llvm::ArrayRef<mlir::Value> xs, SourceLocation loc);

// Says why no gradient of `loss` reaches any of `xs`: "the loss does not depend on them", or the ops that pass no
// gradient on, with the user's lines. Uses `b` to try ops, and removes them again.
std::string DescribeGradientCuts(mlir::OpBuilder& b, mlir::Value loss, llvm::ArrayRef<mlir::Value> xs);

}  // namespace tandem::internal

#endif  // TANDEM_GRAPH_GRADIENTS_GRADIENTS_H_
