#include "tools/dump/ir_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tandem {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kModule[] = R"(module @main attributes {exec.config = #exec.config<mode = "train">} {
  td.variable @"dense/kernel" : tensor<4x3xf32> {trainable} loc("dense/kernel"("model.cc":7:0))
  func.func @step(%arg0: tensor<?x4xf32> {td.input = "x"} loc("x"("model.cc":5:0)), %arg1: tensor<4x3xf32> {td.variable = @"dense/kernel"} loc("dense/kernel"("model.cc":7:0))) -> (tensor<f32> {td.output = "loss %notavalue"}) {
    %0 = td.constant dense<1.000000e+00> : tensor<f32> loc(unknown)
    %1:2 = exec.map_microbatches (%arg0, %arg1, %0 : tensor<?x4xf32>, tensor<4x3xf32>, tensor<f32>) reduce [sum, sum] scope [global, global] lanes 2 rows 1 microbatch 1 -> (tensor<f32>, tensor<f32>) {
    ^bb0(%arg2: tensor<?x4xf32> loc("x"("model.cc":5:0)), %arg3: tensor<4x3xf32> loc("dense/kernel"("model.cc":7:0)), %arg4: tensor<f32> loc(unknown)):
      %3 = exec.library_call(%arg2, %arg3) #exec.matmul<> by library as "brg" : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32> loc("dense/MatMul"("model.cc":7:0))
      %4:2 = exec.launch @kernel_0(%3, %arg4) : (tensor<?x3xf32>, tensor<f32>) -> (tensor<f32>, tensor<f32>) loc(fused["loss/Sum"("model.cc":8:0), "loss/Mul"("model.cc":8:0)])
      exec.yield %4#0, %4#1 : tensor<f32>, tensor<f32> loc(unknown)
    } loc(unknown)
    %2 = td.div %1#0, %0 : tensor<f32> loc("loss/Div"("model.cc":9:0))
    return %2 : tensor<f32> loc(unknown)
  } loc(unknown)
  func.func private @kernel_0(%arg0: tensor<?x3xf32> loc("dense/MatMul"("model.cc":7:0)), %arg1: tensor<f32> loc(unknown)) -> (tensor<f32>, tensor<f32>) attributes {exec.kernel = #exec.kernel_kind<col>} {
    %0 = td.mul %arg0, %arg0 : tensor<?x3xf32> loc("loss/Mul"("model.cc":8:0))
    %1 = "td.reduce"(%0) {kind = #td<reduce_kind sum>, axes = array<i64: 0, 1>} : (tensor<?x3xf32>) -> tensor<f32> loc("loss/Sum"("model.cc":8:0))
    return %1, %arg1 : tensor<f32>, tensor<f32> loc(unknown)
  } loc(unknown)
}
)";

TEST(IrGraph, ReadsOpsRegionsAndKernels) {
  const std::vector<IrOp> ops = ParseIrGraph(kModule);
  std::vector<std::string> names;
  for (const IrOp& op : ops) names.push_back(op.op);
  ASSERT_THAT(names, ElementsAre("argument", "argument", "td.constant", "exec.map_microbatches", "library MatMul",
                                 "exec.launch", "td.mul", "td.reduce", "td.div"));
  EXPECT_EQ(ops[0].name, "x");
  EXPECT_EQ(ops[0].type, "?x4xf32");
  EXPECT_EQ(ops[1].source, "model.cc:7");
  EXPECT_THAT(ops[3].inputs, ElementsAre(0, 1, 2));
  // Through the region's arguments.
  EXPECT_THAT(ops[4].inputs, ElementsAre(0, 1));
  EXPECT_EQ(ops[4].parent, 3);
  EXPECT_EQ(ops[4].name, "dense/MatMul");
  EXPECT_EQ(ops[4].type, "?x3xf32");
  EXPECT_EQ(ops[5].kernel, "kernel_0");
  EXPECT_EQ(ops[5].name, "loss/Sum");  // the first of the fused
  EXPECT_EQ(ops[5].source, "model.cc:8");
  EXPECT_THAT(ops[5].inputs, ElementsAre(2, 4));
  // Inside of the kernel, values are those of the launch.
  EXPECT_EQ(ops[6].parent, 5);
  EXPECT_EQ(ops[6].type, "?x3xf32");
  EXPECT_THAT(ops[6].inputs, ElementsAre(4));
  EXPECT_THAT(ops[7].inputs, ElementsAre(6));
  EXPECT_EQ(ops[7].type, "f32");
  // A result of the region is what it yields.
  EXPECT_THAT(ops[8].inputs, ElementsAre(2, 5));
  EXPECT_EQ(ops[8].parent, -1);
}

TEST(IrGraph, OtherTextGivesNoOps) {
  EXPECT_THAT(ParseIrGraph(""), IsEmpty());
  EXPECT_THAT(ParseIrGraph("define void @f() {\n ret void\n}\n"), IsEmpty());
  EXPECT_THAT(ParseIrGraph("  func.func @step(\n%0 = \n}\n}\n^\nloc(\n"), IsEmpty());
}

// Text that no compiler wrote.
TEST(IrGraph, AKernelThatLaunchesItselfEnds) {
  const std::vector<IrOp> ops = ParseIrGraph(
      "func.func private @k(%a: tensor<f32>) -> tensor<f32> attributes {exec.kernel = #exec.kernel_kind<once>} {\n"
      "  %0 = exec.launch @k(%a) : (tensor<f32>) -> tensor<f32>\n  return %0 : tensor<f32>\n}\n"
      "func.func @step(%x: tensor<f32>) {\n  %1 = exec.launch @k(%x) : (tensor<f32>) -> tensor<f32>\n  return\n}\n");
  EXPECT_EQ(ops.size(), 3u);  // the argument and two launches
}

}  // namespace
}  // namespace tandem
