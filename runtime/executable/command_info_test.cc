#include "runtime/executable/command_info.h"

#include <map>

#include "gtest/gtest.h"
#include "runtime/library_calls/library_call.h"
#include "runtime/library_calls/pack_weights.h"
#include "runtime/testing/executable_builder.h"
#include "runtime/testing/library_calls.h"

namespace tandem {
namespace {

constexpr int kLanes = 4, kRowsPerLane = 6, kMicrobatchRows = 3, kIn = 5, kOut = 2;

std::shared_ptr<const Executable> Linear() {
  ExecutableBuilder b(/*replicas=*/2, kLanes, kRowsPerLane, kMicrobatchRows);
  const int scale = b.Kernel("scale", 0, format::Domain::kRows), sgd = b.Kernel("sgd", 0, format::Domain::kElements);
  b.index().kernels[scale].flops_per_row = 7;
  b.index().kernels[scale].ops = {"td.mul", "td.add"};
  b.index().kernels[sgd].flops_per_row = 2;
  const int w = b.Variable("w", {kIn, kOut}), x = b.Input("x", {kBatch, kIn});
  const int y = b.Microbatch("y", {kBatch, kOut}), z = b.Microbatch("z", {kBatch, kOut});
  const int dw = b.Lane("dw", {kIn, kOut}, format::ReduceKind::kSum), sum = b.Step("sum", {kIn, kOut});
  b.Map();
  b.MatMul("dense/MatMul", x, w, y);
  b.Launch("dense/Scale", scale, {y}, {z});
  b.MatMulWeightGrad("gradients/dense/MatMul", x, z, dw);
  b.Global();
  b.LaneReduce(format::ReduceKind::kSum, {dw}, {sum});
  b.AllReduce(format::ReduceKind::kSum, {sum});
  b.Grouped("SGD/Apply", sgd, 2, {w, sum}, {kIn * kOut});
  auto executable = Executable::Parse(BuildExecutable(b.Take(), {{format::SegmentKind::kElfObject, "k", "code"}}));
  EXPECT_TRUE(executable.ok()) << executable.status();
  return *executable;
}

TEST(CommandInfo, ListsCommandsInOrderWithOneForSumsBehindEachSection) {
  const auto executable = Linear();
  const std::vector<CommandInfo> commands = ListCommands(*executable);
  std::vector<std::string> kinds;
  for (size_t i = 0; i < commands.size(); ++i) {
    EXPECT_EQ(commands[i].id, i);
    kinds.push_back(commands[i].kind);
    EXPECT_EQ(commands[i].map, i < 4);
  }
  EXPECT_EQ(kinds, (std::vector<std::string>{"LibraryCall", "KernelLaunch", "LibraryCall", "LaneSum", "LaneReduce",
                                             "AllReduce", "GroupedLaunch", "LaneSum"}));
  EXPECT_EQ(commands[0].name, "dense/MatMul");
  EXPECT_TRUE(commands[0].library);
  EXPECT_FALSE(commands[1].library);
  EXPECT_EQ(commands[1].detail.find("scale "), 0u);
  EXPECT_NE(commands[1].detail.find("td.mul td.add"), std::string::npos);
}

TEST(CommandInfo, CountsOperationsAndBytes) {
  const auto executable = Linear();
  const std::vector<CommandInfo> commands = ListCommands(*executable);
  // A product of [3, 5] and [5, 2].
  EXPECT_EQ(commands[0].work.Flops(3), 2 * 3 * kIn * kOut);
  EXPECT_EQ(commands[0].work.Bytes(3), 4 * (3 * kIn + kIn * kOut + 3 * kOut));
  EXPECT_EQ(commands[1].work.Flops(3), 3 * 7);
  EXPECT_EQ(commands[1].work.Bytes(3), 4 * 2 * 3 * kOut);
  EXPECT_EQ(commands[2].work.Flops(3), 2 * 3 * kIn * kOut);
  // Adding a microbatch's dw to the lane's: two operands and a result.
  EXPECT_EQ(commands[3].work.Flops(0), kIn * kOut);
  EXPECT_EQ(commands[3].work.Bytes(0), 3 * 4 * kIn * kOut);
  // The slots of the two lanes of a replica, and the sum.
  EXPECT_EQ(commands[4].work.Bytes(0), (2 + 1) * 4 * kIn * kOut);
  EXPECT_EQ(commands[4].work.Flops(0), kIn * kOut);
  EXPECT_EQ(commands[6].work.Flops(0), 2 * kIn * kOut);
  EXPECT_EQ(commands[6].work.Bytes(0), 2 * 4 * kIn * kOut);
  EXPECT_EQ(commands[7].work.Bytes(0), 0);
}

TEST(CommandInfo, ConvolutionsCountTheSameInAllDirections) {
  format::Conv2D conv = Conv(2, 8, 8, 3, 5, 5, 4, 1, 0, 0);
  for (format::Direction direction : format::kDirectionValues) {
    conv.direction = direction;
    EXPECT_EQ(InfoOf(conv).flops, 2.0 * (2 * 4 * 4 * 4) * (5 * 5 * 3));
  }
  EXPECT_EQ(InfoOf(PackingFor(CallOf(conv))).flops, 0);
  format::MatMul product = MatMulOf(3, 7, 4, /*transpose_a=*/true);
  EXPECT_EQ(InfoOf(product).flops, 2 * 3 * 7 * 4);
  product.a_shape = {2, 6, 7, 3};  // a gradient that sums over all rows: [3, 84] * [84, 4]
  product.b_shape = {2, 6, 7, 4};
  EXPECT_EQ(InfoOf(product).flops, 2 * 3 * (2 * 6 * 7) * 4);
  EXPECT_EQ(InfoOf(BatchMatMulOf(2, 6, 5, 8, 9, 0)).flops, 2 * (2 * 6) * 5 * 8 * 9);
}

}  // namespace
}  // namespace tandem
