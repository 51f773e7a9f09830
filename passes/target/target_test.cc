#include "passes/target/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mlir/IR/MLIRContext.h"
#include "runtime/testing/library_calls.h"

namespace tandem {
namespace {

mlir::OwningOpRef<mlir::ModuleOp> ModuleFor(mlir::MLIRContext& context, exec::TargetAttr target) {
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  SetTarget(*module, target);
  return module;
}

class TargetTest : public testing::Test {
 protected:
  TargetTest() { context_.loadDialect<exec::ExecDialect>(); }
  exec::TargetAttr Cpu(int vector_bits, bool products, bool tiles) {
    return exec::TargetAttr::get(&context_, exec::Backend::kCpu, 0, vector_bits, products, tiles);
  }
  exec::TargetAttr Cuda(int sm) {
    return exec::TargetAttr::get(&context_, exec::Backend::kCuda, sm, 512, false, false);
  }

  mlir::MLIRContext context_;
};

TEST_F(TargetTest, AModuleKnowsItsTarget) {
  auto module = ModuleFor(context_, Cpu(256, false, false));
  const std::shared_ptr<const Target> cpu = TargetOf(*module);
  EXPECT_EQ(cpu->device_class(), "cpu");
  EXPECT_EQ(cpu->buffer_alignment(), 64);
  EXPECT_TRUE(cpu->has_lanes() && cpu->keeps_invariants() && cpu->generates_contractions() &&
              cpu->has_float32_biases() && !cpu->has_costly_launches());
  EXPECT_FALSE(cpu->has_avx512() || cpu->has_bfloat16_products() || cpu->has_bfloat16_tiles() || cpu->has_tf32());
  SetTarget(*module, Cuda(80));
  const std::shared_ptr<const Target> gpu = TargetOf(*module);
  EXPECT_EQ(gpu->device_class(), "gpu");
  EXPECT_EQ(gpu->buffer_alignment(), 256);
  EXPECT_FALSE(gpu->has_lanes() || gpu->keeps_invariants() || gpu->generates_contractions() || gpu->has_avx512() ||
               gpu->has_float32_biases());
  EXPECT_TRUE(gpu->has_tf32() && gpu->has_gradient_epilogues() && gpu->has_costly_launches());
}

TEST_F(TargetTest, ACpuHasWhatItsAttributeSays) {
  auto module = ModuleFor(context_, Cpu(512, true, false));
  EXPECT_TRUE(TargetOf(*module)->has_avx512());
  EXPECT_TRUE(TargetOf(*module)->has_bfloat16_products());
  EXPECT_FALSE(TargetOf(*module)->has_bfloat16_tiles());
  mlir::OwningOpRef<mlir::ModuleOp> none = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context_));
  EXPECT_TRUE(TargetOf(*none)->has_avx512());
  EXPECT_FALSE(TargetOf(*none)->has_bfloat16_products());
}

format::LibraryCall Product() { return CallOf(MatMulOf(64, 128, 256)); }

format::LibraryCall Convolution(int taps) { return CallOf(Conv(8, 14, 14, 32, taps, taps, 64, 1, 0, 0)); }

// A convolution of one tap is cuBLASLt's, which reads kernels as they are.
TEST_F(TargetTest, OnAGpuOnlyCudnnsKernelsArePacked) {
  auto module = ModuleFor(context_, Cuda(90));
  const std::shared_ptr<const Target> target = TargetOf(*module);
  const MachineModel machine = BuiltInMachineModel("h200").value();
  EXPECT_FALSE(target->PackingOf(Product(), machine, {})->has_value());
  EXPECT_FALSE(target->PackingOf(Convolution(1), machine, {})->has_value());
  const std::optional<WeightsPacking> packing = *target->PackingOf(Convolution(3), machine, {});
  ASSERT_TRUE(packing.has_value());
  EXPECT_EQ(packing->bytes, 9u * 32 * 64 * 4);
  EXPECT_NE(packing->call.operation.As<format::PackWeights>(), nullptr);
  for (const auto& [call, implementation] :
       {std::pair(Product(), "cublaslt"), std::pair(Convolution(3), "cudnn"), std::pair(packing->call, "kernel")}) {
    format::LibraryCall chosen = call;
    ASSERT_TRUE(target->ChooseAlgorithm(chosen, machine).ok());
    EXPECT_EQ(chosen.implementation, implementation);
  }
}

TEST_F(TargetTest, OnACpuACallThatFitsNothingIsRefused) {
  auto module = ModuleFor(context_, Cpu(256, false, false));
  const MachineModel machine = BuiltInMachineModel("generic-avx2").value();
  format::LibraryCall call = Product();
  ASSERT_TRUE(TargetOf(*module)->ChooseAlgorithm(call, machine).ok());
  EXPECT_EQ(call.algorithm, format::Algorithm::kLibrary);
  EXPECT_NE(call.implementation, "");
  call.operation.As<format::MatMul>()->y_shape = {64, 255};
  EXPECT_EQ(TargetOf(*module)->ChooseAlgorithm(call, machine).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tandem
