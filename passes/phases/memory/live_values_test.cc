#include "passes/phases/memory/live_values.h"

#include <gtest/gtest.h>

#include <utility>

#include "graph/ir/dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "passes/exec/dialect.h"

namespace tandem {
namespace {

constexpr char kProgram[] = R"(
func.func private @neg(%x: tensor<16xf32>) -> tensor<16xf32> attributes {exec.kernel = #exec.kernel_kind<split>} {
  %0 = td.neg %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}
func.func @step(%w: tensor<16xf32>) -> (tensor<16xf32>, tensor<4x4xf32>) {
  %a = exec.launch @neg(%w) : (tensor<16xf32>) -> tensor<16xf32>
  %b = exec.launch @neg(%a) : (tensor<16xf32>) -> tensor<16xf32>
  %c = exec.all_reduce sum %b : tensor<16xf32> -> tensor<16xf32>
  %d = td.reshape %c : tensor<16xf32> -> tensor<4x4xf32>
  %e = exec.launch @neg(%a) : (tensor<16xf32>) -> tensor<16xf32>
  %f = exec.launch @neg(%e) : (tensor<16xf32>) -> tensor<16xf32>
  return %a, %d : tensor<16xf32>, tensor<4x4xf32>
})";

class LiveValuesTest : public testing::Test {
 protected:
  LiveValuesTest() {
    context_.loadDialect<td::TdDialect, exec::ExecDialect, mlir::func::FuncDialect>();
    module_ = mlir::parseSourceString<mlir::ModuleOp>(kProgram, &context_);
    for (mlir::Operation& op : Block()) {
      if (op.getNumResults() == 1) results_.push_back(op.getResult(0));
    }
  }

  mlir::Block& Block() { return module_->lookupSymbol<mlir::func::FuncOp>("step").getBody().front(); }

  std::pair<int, int> TimesOf(size_t i) {
    const LiveRange range = BlockTimes(Block()).RangeOf(mlir::cast<mlir::OpResult>(results_[i]), 64);
    EXPECT_EQ(range.bytes, 64);
    return {range.first, range.last};
  }

  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  std::vector<mlir::Value> results_;  // %a to %f
};

TEST_F(LiveValuesTest, ViewsAndWhatIsWrittenOverAnOperandShareItsPlace) {
  const auto shared = [&](size_t i) {
    const mlir::OpOperand* operand = SharedOperand(mlir::cast<mlir::OpResult>(results_[i]));
    return operand == nullptr ? mlir::Value() : operand->get();
  };
  EXPECT_EQ(shared(1), mlir::Value());
  EXPECT_EQ(shared(2), results_[1]);
  EXPECT_EQ(shared(3), results_[2]);
}

TEST_F(LiveValuesTest, ValuesLiveUntilWhatSharesTheirPlaceIsRead) {
  using Times = std::pair<int, int>;
  EXPECT_EQ(TimesOf(0), Times(0, 6));
  EXPECT_EQ(TimesOf(1), Times(1, 6));  // the function returns a view of what the all-reduce writes over it
  EXPECT_EQ(TimesOf(4), Times(4, 5));
  EXPECT_EQ(TimesOf(5), Times(5, 5));  // nothing reads it
}

TEST_F(LiveValuesTest, TheWholeRangeHoldsAllOthers) {
  const LiveRange range = BlockTimes(Block()).WholeRange(8);
  EXPECT_EQ(range.bytes, 8);
  EXPECT_EQ(range.first, 0);
  EXPECT_EQ(range.last, 7);
}

}  // namespace
}  // namespace tandem
