#include "passes/target/target.h"

#include <gtest/gtest.h>

#include "mlir/IR/MLIRContext.h"

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
              cpu->has_float32_biases() && cpu->has_call_algorithms() && !cpu->has_costly_launches());
  EXPECT_FALSE(cpu->has_avx512() || cpu->has_bfloat16_products() || cpu->has_bfloat16_tiles() || cpu->has_tf32());
  SetTarget(*module, Cuda(80));
  const std::shared_ptr<const Target> gpu = TargetOf(*module);
  EXPECT_EQ(gpu->device_class(), "gpu");
  EXPECT_EQ(gpu->buffer_alignment(), 256);
  EXPECT_FALSE(gpu->has_lanes() || gpu->keeps_invariants() || gpu->generates_contractions() || gpu->has_avx512() ||
               gpu->has_float32_biases() || gpu->has_call_algorithms());
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

}  // namespace
}  // namespace tandem
