// The MLIR side of a GraphBuilder: context, module, names and diagnostics. Internal to graph/ and passes/.
#ifndef TANDEM_GRAPH_MODULE_GRAPH_MODULE_H_
#define TANDEM_GRAPH_MODULE_GRAPH_MODULE_H_

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/source_location.h"
#include "graph/graph_builder.h"
#include "graph/ir/replica_values.h"
#include "graph/replicas.h"
#include "llvm/ADT/DenseSet.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace tandem::internal {

class GraphModule {
 public:
  explicit GraphModule(absl::string_view name);

  mlir::MLIRContext& context() { return context_; }
  mlir::ModuleOp module() const { return *module_; }
  mlir::func::FuncOp main() const { return main_; }
  // A builder that inserts ops before the `return` of @main.
  mlir::OpBuilder& builder() { return builder_; }

  const absl::Status& status() const { return status_; }
  void Fail(absl::Status status);

  // Appends `td.<op>`. Result types are inferred; for an op that cannot infer them, the attributes "shape" and "dtype"
  // give the type of its only result (by default that of operand 0). An error names op, scoped name, user's line and
  // operand shapes.
  absl::StatusOr<mlir::Operation*> Emit(absl::string_view op, mlir::ValueRange operands, const Attrs& attrs,
                                        SourceLocation loc);

  // Returns "scope/base", made unique among ops; the name is then taken.
  std::string TakeName(absl::string_view base);
  // Like TakeName, without the scope.
  std::string TakeGlobalName(absl::string_view name);
  // Returns the name that an op would get now, for messages.
  std::string Scoped(absl::string_view base) const;
  std::string UniqueScope(absl::string_view base);
  void PushScope(absl::string_view name);
  void PopScope();
  const std::string& scope() const { return scope_; }

  // Returns NameLoc(name, file:line).
  mlir::Location Location(absl::string_view name, SourceLocation loc);
  // Makes Find return `value` for this name.
  void Register(absl::string_view name, mlir::Value value) { values_.emplace(std::string(name), value); }
  mlir::Value Find(absl::string_view name) const;
  std::vector<std::string> names() const;  // all names that Find knows, sorted

  // Returns the error `op "name" at file:line: message`.
  absl::Status Error(absl::string_view op, absl::string_view name, SourceLocation loc, absl::string_view message,
                     mlir::ValueRange operands = {}) const;

  // Runs `f` and returns the text of the errors that MLIR reported during the call.
  template <typename F>
  std::string CaptureDiagnostics(F f) {
    std::string saved = std::move(diagnostics_);
    diagnostics_.clear();
    ++capturing_;
    f();
    --capturing_;
    std::string text = std::move(diagnostics_);
    diagnostics_ = std::move(saved);
    return text;
  }

  // What GraphBuilder knows of the graph besides its ops.
  std::vector<VariableSpec> variables;
  std::map<std::string, mlir::Value> variable_values;  // value at the start of the step, by the variable's full name
  std::vector<std::string> trainable;                  // full names of the trainable variables
  std::set<std::string> assigned;
  std::map<std::string, mlir::Operation*> assignments;  // td.assign ops by the variables' full names
  // Variable -> who read its final value (the `taker` of AssignedValue); it cannot be assigned any more.
  std::map<std::string, std::string> settled;
  std::map<std::string, mlir::Value> inputs, scalars;
  std::map<std::string, double> scalar_defaults;
  // Where StepScalar was first called with a default.
  std::map<std::string, SourceLocation, std::less<>> scalar_default_locations;
  std::vector<mlir::Value> differentiated;        // losses that Gradients was called for
  std::map<std::string, SourceLocation> outputs;  // user's line of each call of Output, by the output's name
  std::string absent_reason;                      // the reason that GraphBuilder::Absent was called with
  td::ReplicaValues replica_values;
  ReplicaCount replicas;
  // The graph is valid for one number of replicas only, because ReplicasOf was called.
  bool depends_on_replicas = false;

 private:
  // True if an op has all attributes that it needs; otherwise the diagnostics name a missing one.
  bool HasAttributes(mlir::OperationName name, const mlir::RegisteredOperationName& info, mlir::Location location,
                     mlir::ValueRange operands, const mlir::NamedAttrList& attributes);

  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  mlir::func::FuncOp main_;
  mlir::OpBuilder builder_;
  absl::Status status_;
  std::string scope_;  // the current name scope: "" or "a/b/"
  std::vector<size_t> scope_lengths_;
  std::set<std::string> names_, scopes_;
  std::unordered_map<std::string, int> next_suffix_;
  std::unordered_map<std::string, mlir::Value> values_;
  int capturing_ = 0;
  std::string diagnostics_;
};

// Returns the last part of an op's name: "conv2d" -> "Conv2D", "reduce" of kind "sum" -> "Sum".
std::string OpDisplayName(absl::string_view op, const Attrs& attrs);

// The name in an op's location ("" without one).
std::string LocationName(mlir::Location loc);
// "file:line" of the user's code ("" without one).
std::string LocationFileLine(mlir::Location loc);

// Returns all ops that the values depend on, including those that make them.
llvm::DenseSet<mlir::Operation*> OpsBehind(llvm::ArrayRef<mlir::Value> values);

}  // namespace tandem::internal

#endif  // TANDEM_GRAPH_MODULE_GRAPH_MODULE_H_
