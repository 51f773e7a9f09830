// td-lift-variables: makes the step a pure function.
//
// Inputs, step scalars and variable reads of @main become arguments, assignments and outputs become results, and the
// function is renamed @step. Before: the form that GraphBuilder leaves (docs/developers/internals.md). After: @step
// holds no td.input, td.scalar, td.read, td.assign or td.output; an argument or result says by an attribute what it
// stands for.
//
//   func.func @main() {                              func.func @step(%w: tensor<4xf32> {td.variable = @w})
//     %w = td.read @w : tensor<4xf32>                    -> (tensor<4xf32> {td.update = @w}) {
//     %v = td.neg %w : tensor<4xf32>            =>     %v = td.neg %w : tensor<4xf32>
//     td.assign @w, %v : tensor<4xf32>                 return %v : tensor<4xf32>
//     return                                         }
//   }
#include "passes/lift_variables.h"

#include <map>

#include "graph/ir/state.h"
#include "passes/pass_util.h"

namespace tandem {
namespace {

using mlir::func::FuncOp;

struct Source {
  llvm::StringRef attribute;  // td.input, td.scalar or td.variable
  mlir::Attribute name;
};

// What an op reads from outside the step; attribute is empty when it reads nothing.
Source SourceOf(mlir::Operation* op) {
  if (auto input = mlir::dyn_cast<td::InputOp>(op)) return {"td.input", input.getNameAttr()};
  if (auto scalar = mlir::dyn_cast<td::ScalarOp>(op)) return {"td.scalar", scalar.getNameAttr()};
  if (auto read = mlir::dyn_cast<td::ReadOp>(op)) return {"td.variable", read.getVariableAttr()};
  return {};
}

class LiftVariablesPass : public ModulePass<LiftVariablesPass> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LiftVariablesPass)
  static constexpr llvm::StringLiteral kName = "td-lift-variables";
  static constexpr llvm::StringLiteral kDescription = "turn variables, inputs and outputs into arguments and results";

  void runOnOperation() final {
    mlir::ModuleOp module = getOperation();
    auto main = module.lookupSymbol<FuncOp>("main");
    if (!main) return;  // lifted before
    mlir::Block& body = main.getBody().front();
    mlir::OpBuilder builder(module.getContext());

    llvm::SmallVector<mlir::DictionaryAttr> argument_attrs, result_attrs;
    auto dictionary = [&](llvm::StringRef key, mlir::Attribute value) {
      return builder.getDictionaryAttr(builder.getNamedAttr(key, value));
    };
    // Inputs come first, then scalars, then variables, each in the order of the graph.
    for (llvm::StringRef kind : {"td.input", "td.scalar", "td.variable"}) {
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
    for (mlir::Operation& op : llvm::make_early_inc_range(body)) {
      if (auto assign = mlir::dyn_cast<td::AssignOp>(op)) {
        results.push_back(assign.getValue());
        result_attrs.push_back(dictionary("td.update", assign.getVariableAttr()));
      } else if (auto output = mlir::dyn_cast<td::OutputOp>(op)) {
        results.push_back(output.getValue());
        result_attrs.push_back(dictionary("td.output", output.getNameAttr()));
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

std::unique_ptr<mlir::Pass> createLiftVariablesPass() { return std::make_unique<LiftVariablesPass>(); }

}  // namespace tandem
