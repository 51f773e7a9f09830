#include "passes/codegen/gpu/gpu_kernel.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "mlir/IR/Verifier.h"
#include "passes/codegen/float_rules.h"
#include "passes/codegen/gpu/gpu_kernel_builder.h"
#include "passes/codegen/kernel_emitter.h"

namespace tandem {

extern const GpuEmitter kGpuAttention, kGpuColumns, kGpuGridReduce, kGpuLoop, kGpuParts, kGpuRows;

namespace {

// Returns the first builder that can emit the kernel, and sets `row` to its row of the table.
absl::StatusOr<std::unique_ptr<GpuKernelBuilder>> BuilderOf(const GpuRequest& request, const GpuEmitter*& row) {
  static constexpr const GpuEmitter* kEmitters[] = {&kGpuAttention,  &kGpuLoop,  &kGpuColumns,
                                                    &kGpuGridReduce, &kGpuParts, &kGpuRows};
  for (const GpuEmitter* emitter : kEmitters) {
    std::unique_ptr<GpuKernelBuilder> builder = emitter->make(request);
    row = emitter;
    if (builder->Takes()) return builder;
  }
  const exec::KernelKind kind = exec::GetKernelKind(request.kernel).value_or(exec::KernelKind::kCluster);
  return absl::UnimplementedError(absl::StrCat("kernel ", request.symbol, " of kind \"",
                                               exec::stringifyKernelKind(kind).str(),
                                               "\" cannot be compiled for GPUs"));
}

}  // namespace

absl::StatusOr<GpuKernel> EmitGpuKernel(mlir::func::FuncOp kernel, const std::string& symbol, int64_t rows, int arch) {
  LoadCodegenDialects(*kernel.getContext());
  GpuKernel result;
  const GpuEmitter* row = nullptr;
  for (bool cuts_rows : {true, false}) {
    result.module = mlir::ModuleOp::create(kernel.getLoc(), kernel.getName());
    TD_ASSIGN_OR_RETURN(std::unique_ptr<GpuKernelBuilder> builder,
                        BuilderOf({kernel, symbol, *result.module, rows, arch, cuts_rows}, row));
    TD_RETURN_IF_ERROR(builder->Emit());
    result.plan = builder->plan();
    result.index_bits = builder->index_bits();
    if (!builder->parts_depend()) break;
  }
  ApplyFloatRules(*result.module, /*fuse_multiply_add=*/true);
  if (mlir::failed(mlir::verify(*result.module))) {
    return absl::InternalError(
        absl::StrCat("kernel ", kernel.getName().str(), ": the emitter of ", row->name, " made invalid code"));
  }
  return result;
}

}  // namespace tandem
