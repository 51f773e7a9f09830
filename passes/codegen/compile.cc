#include "passes/codegen/compile.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "llvm/IR/LLVMContext.h"
#include "passes/codegen/kernel_emitter.h"
#include "passes/codegen/lower_to_llvm.h"
#include "passes/codegen/optimize.h"

namespace tandem {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// A kernel as LLVM IR in a context of its own, so that any thread may go on with it.
struct Job {
  CompiledKernel kernel;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  absl::Status status;
};

bool AllScalars(mlir::func::FuncOp kernel) {
  auto scalar = [](mlir::Type t) { return mlir::cast<mlir::RankedTensorType>(t).getRank() == 0; };
  return llvm::all_of(kernel.getArgumentTypes(), scalar) && llvm::all_of(kernel.getResultTypes(), scalar);
}

absl::Status Prepare(mlir::func::FuncOp kernel, const CpuTarget& target, Job& job) {
  auto start = Clock::now();
  job.kernel.symbol = kernel.getName().str();
  auto kind = kernel->getAttrOfType<mlir::StringAttr>("td.kernel");
  if (kind && kind.getValue() == "flat") job.kernel.domain = KernelDomain::kElements;
  if (kind && kind.getValue() == "once") job.kernel.domain = KernelDomain::kOnce;
  TD_ASSIGN_OR_RETURN(mlir::OwningOpRef<mlir::ModuleOp> emitted, EmitKernel(kernel, target.has_fma));
  TD_RETURN_IF_ERROR(LowerToLlvmDialect(*emitted, AllScalars(kernel)));
  job.context = std::make_unique<llvm::LLVMContext>();
  TD_ASSIGN_OR_RETURN(job.module, TranslateToLlvmIr(*emitted, *job.context));
  job.kernel.seconds = SecondsSince(start);
  return absl::OkStatus();
}

void Finish(const CpuTarget& target, Job& job) {
  auto start = Clock::now();
  absl::StatusOr<OptimizedObject> object = OptimizeAndAssemble(*job.module, target);
  if (object.ok()) {
    job.kernel.elf_object = std::move(object->elf);
    job.kernel.llvm_ir = std::move(object->llvm_ir);
  }
  job.status = object.status();
  job.module.reset();  // before its context
  job.context.reset();
  job.kernel.seconds += SecondsSince(start);
}

absl::Status Annotated(const absl::Status& status, const std::string& symbol) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat("compiling ", symbol, ": ", std::string(status.message())));
}

}  // namespace

absl::StatusOr<std::vector<CompiledKernel>> CompileKernels(mlir::ModuleOp module, const CpuTarget& target,
                                                           int threads) {
  LoadCodegenDialects(*module.getContext());
  RegisterLlvmTranslation(*module.getContext());
  // The MLIR part is short and shares the context: one thread. LLVM's part runs in parallel.
  std::vector<Job> jobs;
  for (auto kernel : module.getOps<mlir::func::FuncOp>()) {
    if (!kernel->hasAttr("td.kernel")) continue;
    jobs.emplace_back();
    TD_RETURN_IF_ERROR(Annotated(Prepare(kernel, target, jobs.back()), kernel.getName().str()));
  }
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i; (i = next.fetch_add(1)) < jobs.size();) Finish(target, jobs[i]);
  };
  std::vector<std::thread> helpers;
  for (int i = 1; i < threads && i < static_cast<int>(jobs.size()); ++i) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
  std::vector<CompiledKernel> result;
  for (Job& job : jobs) {
    TD_RETURN_IF_ERROR(Annotated(job.status, job.kernel.symbol));
    result.push_back(std::move(job.kernel));
  }
  return result;
}

absl::StatusOr<CompiledKernel> CompileKernel(mlir::func::FuncOp kernel, const CpuTarget& target) {
  LoadCodegenDialects(*kernel.getContext());
  RegisterLlvmTranslation(*kernel.getContext());
  Job job;
  TD_RETURN_IF_ERROR(Annotated(Prepare(kernel, target, job), kernel.getName().str()));
  Finish(target, job);
  TD_RETURN_IF_ERROR(Annotated(job.status, job.kernel.symbol));
  return std::move(job.kernel);
}

}  // namespace tandem
