// Runs the reference semantics of one op given as text.
#ifndef TANDEM_GRAPH_IR_EVALUATE_TEST_UTIL_H_
#define TANDEM_GRAPH_IR_EVALUATE_TEST_UTIL_H_

#include <string>
#include <vector>

#include "graph/ir/dialect.h"
#include "graph/ir/interfaces.h"
#include "graph/ir/reference_util.h"
#include "gtest/gtest.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

namespace tandem::td {

// Returns the values of the results of `op` in `func.func @main(arguments) { op }`, where argument i has the elements
// values[i]. Empty after a failure, which it reports to the test.
inline std::vector<std::vector<double>> EvaluateOp(const std::string& arguments, const std::string& op,
                                                   const std::vector<std::vector<double>>& values, int64_t batch = 1) {
  mlir::MLIRContext context;
  context.loadDialect<TdDialect, mlir::func::FuncDialect>();
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>("func.func @main(" + arguments + ") {\n" + op + "\nreturn }", &context);
  if (!module) {
    ADD_FAILURE() << "does not parse: " << op;
    return {};
  }
  mlir::func::FuncOp main = *module->getOps<mlir::func::FuncOp>().begin();
  mlir::Operation& first = main.getBody().front().front();
  std::vector<RefTensor> tensors;
  for (auto [i, type] : llvm::enumerate(main.getArgumentTypes())) {
    RefTensor t = MakeResult(type, batch);
    EXPECT_EQ(t.values.size(), values[i].size()) << "argument " << i;
    t.values = values[i];
    tensors.push_back(std::move(t));
  }
  std::vector<const RefTensor*> operands;
  for (mlir::Value v : first.getOperands())
    operands.push_back(&tensors[mlir::cast<mlir::BlockArgument>(v).getArgNumber()]);
  std::vector<RefTensor> results(first.getNumResults());
  absl::Status status = mlir::cast<ReferenceOp>(first).evaluate(operands, {.batch = batch}, results);
  EXPECT_TRUE(status.ok()) << status;
  std::vector<std::vector<double>> result_values;
  for (auto [i, result] : llvm::enumerate(results)) {
    EXPECT_EQ(result.shape, MakeResult(first.getResult(i).getType(), batch).shape) << "result " << i;
    result_values.push_back(result.values);
  }
  return result_values;
}

}  // namespace tandem::td

#endif  // TANDEM_GRAPH_IR_EVALUATE_TEST_UTIL_H_
