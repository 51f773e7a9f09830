// td-lift-variables: makes the step a pure function, whose arguments and results stand for inputs, scalars, variables
// and outputs (passes/Passes.td).
#include <map>

#include "graph/ir/state.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"

namespace tandem {

#define GEN_PASS_DEF_LIFTVARIABLESPASS
#include "passes/passes.h.inc"

namespace {

using mlir::func::FuncOp;

struct Source {
  // Attribute of the step's argument that replaces the op: td.input, td.scalar or td.variable; empty: none.
  llvm::StringRef attribute;
  mlir::Attribute name;
};

// Returns what an op reads from outside the step; `attribute` is empty when it reads nothing.
Source SourceOf(mlir::Operation* op) {
  if (auto input = mlir::dyn_cast<td::InputOp>(op)) return {td::kInputAttr, input.getNameAttr()};
  if (auto scalar = mlir::dyn_cast<td::ScalarOp>(op)) return {td::kScalarAttr, scalar.getNameAttr()};
  if (auto read = mlir::dyn_cast<td::ReadOp>(op)) return {td::kVariableAttr, read.getVariableAttr()};
  return {};
}

class LiftVariablesPass : public impl::LiftVariablesPassBase<LiftVariablesPass> {
 public:
  void runOnOperation() final {
    mlir::ModuleOp module = getOperation();
    auto main = module.lookupSymbol<FuncOp>("main");
    if (!main) return;  // the module has been lifted already
    mlir::Block& body = main.getBody().front();
    mlir::OpBuilder builder(module.getContext());

    llvm::SmallVector<mlir::DictionaryAttr> argument_attrs, result_attrs;
    auto dictionary = [&](llvm::StringRef key, mlir::Attribute value) {
      return builder.getDictionaryAttr(builder.getNamedAttr(key, value));
    };
    // Inputs come first, then scalars, then variables, each in the order of the graph.
    for (llvm::StringRef kind : {td::kInputAttr, td::kScalarAttr, td::kVariableAttr}) {
      llvm::DenseMap<mlir::Attribute, mlir::Value> arguments;
      for (mlir::Operation& op : llvm::make_early_inc_range(body)) {
        Source source = SourceOf(&op);
        if (source.attribute != kind) continue;
        mlir::Value& argument = arguments[source.name];
        if (!op.use_empty() && !argument) {
          argument = body.addArgument(op.getResult(0).getType(), op.getLoc());
          argument_attrs.push_back(dictionary(kind, source.name));
        }
        if (argument) op.getResult(0).replaceAllUsesWith(argument);
        op.erase();
      }
    }
    llvm::SmallVector<mlir::Value> results;
    const bool assigns = !body.getOps<td::AssignOp>().empty();
    for (mlir::Operation& op : llvm::make_early_inc_range(body)) {
      if (auto assign = mlir::dyn_cast<td::AssignOp>(op)) {
        results.push_back(assign.getValue());
        result_attrs.push_back(dictionary(td::kUpdateAttr, assign.getVariableAttr()));
      } else if (auto output = mlir::dyn_cast<td::OutputOp>(op)) {
        results.push_back(output.getValue());
        result_attrs.push_back(dictionary(td::kOutputAttr, output.getNameAttr()));
      } else if (auto check = mlir::dyn_cast<td::CheckFiniteOp>(op)) {
        if (assigns) {
          results.push_back(check.getValue());
          result_attrs.push_back(dictionary(td::kCheckFiniteAttr, builder.getUnitAttr()));
        }
      } else {
        continue;
      }
      op.erase();
    }
    mlir::Operation* terminator = body.getTerminator();
    terminator->setOperands(results);
    main.setFunctionType(builder.getFunctionType(body.getArgumentTypes(), mlir::TypeRange(mlir::ValueRange(results))));
    main.setAllArgAttrs(argument_attrs);
    main.setAllResultAttrs(result_attrs);
    main.setName("step");
  }
};

}  // namespace

}  // namespace tandem
