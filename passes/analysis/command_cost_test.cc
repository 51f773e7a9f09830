#include "passes/analysis/command_cost.h"

#include "gtest/gtest.h"
#include "runtime/testing/executable_builder.h"

namespace tandem {
namespace {

constexpr int kMicrobatchRows = 64, kIn = 256, kOut = 128;

std::shared_ptr<const Executable> MatMulAndUpdate() {
  ExecutableBuilder b(/*replicas=*/1, /*lanes=*/2, /*rows_per_lane=*/kMicrobatchRows, kMicrobatchRows);
  const int sgd = b.Kernel("sgd", 0, format::Domain::kElements);
  b.index().kernels[sgd].flops_per_row = 2;
  const int w = b.Variable("w", {kIn, kOut}), x = b.Input("x", {kBatch, kIn}), y = b.Microbatch("y", {kBatch, kOut});
  const int sum = b.Step("sum", {kIn, kOut});
  b.Map();
  b.MatMul("dense", x, w, y);
  b.Global();
  b.Launch("update", sgd, {sum}, {w}, kIn * kOut);
  auto executable = Executable::Parse(BuildExecutable(b.Take(), {{format::SegmentKind::kElfObject, "k", "code"}}));
  EXPECT_TRUE(executable.ok()) << executable.status();
  return *executable;
}

TEST(CommandCost, TakesTheSlowerOfComputeAndMemoryPlusOverhead) {
  const auto executable = MatMulAndUpdate();
  const std::vector<CommandInfo> commands = ListCommands(*executable);
  ASSERT_EQ(commands[0].name, "dense");
  MachineModel machine = *BuiltInMachineModel("zen4");
  const Cost matmul = ExpectedCost(machine, *executable, commands[0], kMicrobatchRows);
  EXPECT_DOUBLE_EQ(matmul.compute_seconds, 2.0 * kMicrobatchRows * kIn * kOut / machine.library_f32);
  EXPECT_DOUBLE_EQ(matmul.seconds, LimitSeconds(matmul) + machine.library_call_overhead);
  EXPECT_EQ(matmul.bound, Bound::kCompute);
  // Half the rows compute half as much.
  EXPECT_DOUBLE_EQ(ExpectedCost(machine, *executable, commands[0], kMicrobatchRows / 2).compute_seconds,
                   matmul.compute_seconds / 2);
  machine.library_f32 *= 1000;
  machine.l2_bandwidth *= 1000;
  EXPECT_EQ(ExpectedCost(machine, *executable, commands[0], kMicrobatchRows).bound, Bound::kOverhead);
}

TEST(CommandCost, GlobalCommandsPayForTheirBarrier) {
  const auto executable = MatMulAndUpdate();
  const std::vector<CommandInfo> commands = ListCommands(*executable);
  ASSERT_EQ(commands[2].name, "update");
  const MachineModel machine = *BuiltInMachineModel("zen4");
  const Cost update = ExpectedCost(machine, *executable, commands[2], 0);
  EXPECT_DOUBLE_EQ(update.overhead_seconds, machine.kernel_call_overhead + machine.section_overhead);
  EXPECT_DOUBLE_EQ(update.memory_seconds, 2.0 * 4 * kIn * kOut / Bandwidth(machine, 2.0 * 4 * kIn * kOut));
}

TEST(CommandCost, TheMachineIsTheOneItWasCompiledFor) {
  MachineModel machine = *BuiltInMachineModel("zen4");
  machine.library_f32 = 123e9;
  const auto rate = [](const std::string& recorded, const std::string& target) {
    ExecutableBuilder b(1, 1, 1, 1);
    format::Index index = b.Take();
    index.machine_model = recorded;
    index.target = target;
    auto executable = Executable::Parse(BuildExecutable(std::move(index), {}));
    EXPECT_TRUE(executable.ok()) << executable.status();
    return executable.ok() ? MachineModelOf(**executable).library_f32 : 0;
  };
  const auto built_in = [](const char* name) { return BuiltInMachineModel(name)->library_f32; };
  EXPECT_EQ(rate(MachineModelText(machine), "x86-64 avx avx2"), 123e9);
  EXPECT_EQ(rate("zen4", "x86-64 avx avx2"), built_in("zen4"));
  // Of another version, or of none.
  EXPECT_EQ(rate("zen9", "x86-64 avx avx2"), built_in("generic-avx2"));
  EXPECT_EQ(rate("", "x86-64 avx avx2 avx512bw avx512f"), built_in("generic-avx512"));
}

}  // namespace
}  // namespace tandem
