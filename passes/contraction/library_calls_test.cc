#include "passes/contraction/library_calls.h"

#include <gtest/gtest.h>

#include <utility>

#include "mlir/IR/MLIRContext.h"
#include "runtime/testing/library_calls.h"

namespace tandem {
namespace {

format::LibraryCall Product() { return CallOf(MatMulOf(64, 128, 256)); }

format::LibraryCall Convolution(int taps) { return CallOf(Conv(8, 14, 14, 32, taps, taps, 64, 1, 0, 0)); }

// A convolution of one tap is cuBLASLt's, which reads kernels as they are.
TEST(LibraryCallsTest, OnAGpuOnlyCudnnsKernelsArePacked) {
  const std::shared_ptr<const Target> target = MakeCudaTarget();
  const MachineModel machine = BuiltInMachineModel("h200").value();
  const LibraryCalls calls(*target, machine);
  EXPECT_FALSE(calls.PackingOf(Product(), {})->has_value());
  EXPECT_FALSE(calls.PackingOf(Convolution(1), {})->has_value());
  const std::optional<WeightsPacking> packing = *calls.PackingOf(Convolution(3), {});
  ASSERT_TRUE(packing.has_value());
  EXPECT_EQ(packing->bytes, 9u * 32 * 64 * 4);
  EXPECT_NE(packing->call.operation.As<format::PackWeights>(), nullptr);
  for (const auto& [call, implementation] :
       {std::pair(Product(), "cublaslt"), std::pair(Convolution(3), "cudnn"), std::pair(packing->call, "kernel")}) {
    format::LibraryCall chosen = call;
    ASSERT_TRUE(calls.Choose(chosen).ok());
    EXPECT_EQ(chosen.implementation, implementation);
    EXPECT_FALSE(calls.Choose(chosen, format::Algorithm::kUnpackedGemm).ok());
    EXPECT_FALSE(calls.AddsResidual(chosen));
  }
}

// One packing serves a convolution and its input gradient.
TEST(LibraryCallsTest, OnAGpuDirectionsShareAPacking) {
  const std::shared_ptr<const Target> target = MakeCudaTarget();
  const MachineModel machine = BuiltInMachineModel("h200").value();
  const LibraryCalls calls(*target, machine);
  format::LibraryCall gradient = Convolution(3);
  gradient.operation.As<format::Conv2D>()->direction = format::Direction::kInputGrad;
  EXPECT_EQ((*calls.PackingOf(gradient, {}))->call, (*calls.PackingOf(Convolution(3), {}))->call);
}

TEST(LibraryCallsTest, OnACpuACallThatFitsNothingIsRefused) {
  mlir::MLIRContext context;
  context.loadDialect<exec::ExecDialect>();
  const auto avx2 = exec::TargetAttr::get(&context, exec::Backend::kCpu, 0, 256, false, false);
  const std::shared_ptr<const Target> target = MakeCpuTarget(avx2);
  const MachineModel machine = BuiltInMachineModel("generic-avx2").value();
  const LibraryCalls calls(*target, machine);
  format::LibraryCall call = Product();
  ASSERT_TRUE(calls.Choose(call).ok());
  EXPECT_EQ(call.algorithm, format::Algorithm::kLibrary);
  EXPECT_NE(call.implementation, "");
  call.operation.As<format::MatMul>()->y_shape = {64, 255};
  EXPECT_EQ(calls.Choose(call).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tandem
