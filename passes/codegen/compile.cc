#include "passes/codegen/compile.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/annotate.h"
#include "base/fingerprint.h"
#include "base/llvm_memory.h"
#include "base/logging.h"
#include "base/processor_time.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "base/threads.h"
#include "mlir/IR/Verifier.h"
#include "passes/codegen/kernel_emitter.h"
#include "passes/codegen/kernel_text.h"
#include "passes/codegen/lower_math.h"
#include "passes/codegen/optimize.h"
#include "passes/codegen/owned_ir.h"
#include "passes/codegen/ready_queue.h"
#include "passes/codegen/translate.h"

namespace tandem {
namespace {

// Measures CPU time of the calling thread, so that other work on the machine does not count.
class Stopwatch {
 public:
  // Returns the seconds since the last call, or since construction.
  double Lap() {
    double now = ThreadProcessorSeconds();
    return now - std::exchange(last_, now);
  }

 private:
  double last_ = ThreadProcessorSeconds();
};

// A kernel being compiled.
struct Job {
  void LeaveIr() { ir.Leave(); }

  mlir::func::FuncOp function;
  const Emitter* emitter = nullptr;
  std::string key;  // the kernel's key in the cache of compiled kernels
  CompiledKernel kernel;
  OwnedIr ir;
  absl::Status status;
};

bool AllScalars(mlir::func::FuncOp kernel) {
  auto scalar = [](mlir::Type t) { return mlir::cast<mlir::RankedTensorType>(t).getRank() == 0; };
  return llvm::all_of(kernel.getArgumentTypes(), scalar) && llvm::all_of(kernel.getResultTypes(), scalar);
}

Job MakeJob(mlir::func::FuncOp kernel, const CpuTarget& target, absl::string_view build, KernelSanitizer sanitizer) {
  Job job;
  job.function = kernel;
  job.emitter = &EmitterOf(kernel);
  job.kernel.name = kernel.getName().str();
  if (auto kind = exec::GetKernelKind(kernel)) job.kernel.domain = exec::DomainOf(*kind);
  std::string text = KernelText(kernel);
  absl::StrAppend(&text, "\n", target.triple, "\n", target.cpu, "\n", target.features, "\n", target.vector_bits, "\n",
                  build);
  if (sanitizer != KernelSanitizer::kNone) absl::StrAppend(&text, "\n", Name(sanitizer));
  job.key = absl::StrFormat("%016x%016x", Fingerprint64(text, 1), Fingerprint64(text, 2));
  job.kernel.symbol = absl::StrCat("td_", job.key);
  return job;
}

bool TakeFromCache(const KernelCache& cache, Job& job) {
  std::optional<CachedKernel> found = cache.Find(job.key);
  if (!found) return false;
  job.kernel.elf_object = std::move(found->elf_object);
  job.kernel.bitcode = std::move(found->bitcode);
  job.kernel.cached = true;
  return true;
}

// Emits and translates the kernel of a job. `verify`: run MLIR's verifier, which is done for single kernels only.
// Kernels of a program are verified as LLVM IR, which takes a fifth of the time.
absl::Status Prepare(const CpuTarget& target, bool verify, Job& job) {
  Stopwatch watch;
  TD_ASSIGN_OR_RETURN(
      mlir::OwningOpRef<mlir::ModuleOp> emitted,
      EmitKernel(job.function, job.kernel.symbol, target.has_fma, target.vector_bits, target.native_bfloat16));
  if (verify && mlir::failed(mlir::verify(*emitted))) {
    return absl::InternalError(absl::StrCat("the emitter of ", job.emitter->name, " made invalid code"));
  }
  job.kernel.seconds.emit = watch.Lap();
  TD_RETURN_IF_ERROR(LowerMath(*emitted, AllScalars(job.function), target.native_bfloat16));
  job.kernel.seconds.lower = watch.Lap();
  job.ir.context = std::make_unique<llvm::LLVMContext>();
  TD_ASSIGN_OR_RETURN(job.ir.module, TranslateToLlvmIr(*emitted, *job.ir.context));
  job.kernel.seconds.translate = watch.Lap();
  return absl::OkStatus();
}

absl::Status Finish(ObjectCompiler& compiler, const KernelCache& cache, Job& job) {
  Stopwatch watch;
  absl::StatusOr<OptimizedObject> object = compiler.Compile(*job.ir.module, /*vectorize=*/!job.emitter->has_vectors);
  if (object.ok()) {
    job.kernel.seconds.assemble = object->assemble_seconds;
    job.kernel.seconds.optimize = watch.Lap() - object->assemble_seconds;
    job.kernel.elf_object = std::move(object->elf);
    job.kernel.bitcode = std::move(object->bitcode);
    cache.Store(job.key, {job.kernel.elf_object, job.kernel.bitcode});
  }
  job.ir.Destroy();
  return object.status();
}

absl::Status Annotated(const absl::Status& status, const std::string& symbol) {
  return Annotate(status, absl::StrCat("compiling ", symbol, ": "));
}

}  // namespace

absl::StatusOr<std::vector<CompiledKernel>> CompileKernels(mlir::ModuleOp module, const CpuTarget& target, int threads,
                                                           const KernelCache& cache, absl::string_view build,
                                                           KernelSanitizer sanitizer) {
  LoadCodegenDialects(*module.getContext());
  std::vector<Job> jobs;
  std::vector<Job*> missing;
  for (auto kernel : module.getOps<mlir::func::FuncOp>()) {
    if (exec::GetKernelKind(kernel)) jobs.push_back(MakeJob(kernel, target, build, sanitizer));
  }
  absl::flat_hash_map<std::string, int> uses;
  for (Job& job : jobs) {
    // Passes merge equal kernels, but if two are equal all the same, their symbols must differ: tools go by them.
    if (int use = uses[job.key]++; use > 0) {
      absl::StrAppend(&job.key, "-", use);
      absl::StrAppend(&job.kernel.symbol, "_", use);
    }
    if (!TakeFromCache(cache, job)) missing.push_back(&job);
  }
  // Only this thread makes LLVM IR, because that reads the MLIR context, which no two threads may use. Other threads
  // optimise the IR that is ready, and this thread does too when it has made all.
  ReadyQueue<Job> ready(missing.size());
  auto finish = [&] {
    const LlvmMemoryScope scope("compiling kernels");
    absl::StatusOr<std::unique_ptr<ObjectCompiler>> compiler =
        CatchResourceErrors("compiling kernels", [&] { return ObjectCompiler::Create(target, sanitizer); });
    while (Job* job = ready.Take()) {
      job->status = compiler.status();
      if (compiler.ok()) job->status = CatchWithIr(*job, [&] { return Finish(**compiler, cache, *job); });
    }
  };
  const int others = std::min(threads, static_cast<int>(missing.size())) - 1;
  absl::StatusOr<std::vector<std::thread>> helpers = StartThreads("compiling", others, [&](int) { finish(); });
  if (!helpers.ok()) TD_LOG(WARNING) << "compiling with one thread: " << helpers.status().message();
  for (Job* job : missing) {
    job->status = CatchWithIr(*job, [&] { return Prepare(target, /*verify=*/false, *job); });
    if (job->status.ok()) ready.Add(job);
  }
  ready.Close();
  finish();
  if (helpers.ok()) {
    for (std::thread& helper : *helpers) helper.join();
  }
  std::vector<CompiledKernel> result;
  for (Job& job : jobs) {
    TD_RETURN_IF_ERROR(Annotated(job.status, job.kernel.name));
    result.push_back(std::move(job.kernel));
  }
  return result;
}

absl::StatusOr<CompiledKernel> CompileKernel(mlir::func::FuncOp kernel, const CpuTarget& target,
                                             KernelSanitizer sanitizer) {
  LoadCodegenDialects(*kernel.getContext());
  Job job = MakeJob(kernel, target, "", sanitizer);
  TD_RETURN_IF_ERROR(Annotated(Prepare(target, /*verify=*/true, job), job.kernel.name));
  TD_ASSIGN_OR_RETURN(std::unique_ptr<ObjectCompiler> compiler, ObjectCompiler::Create(target, sanitizer));
  TD_RETURN_IF_ERROR(Annotated(Finish(*compiler, KernelCache(""), job), job.kernel.name));
  return std::move(job.kernel);
}

}  // namespace tandem
