#include "passes/codegen/gpu/compile_gpu.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/annotate.h"
#include "base/fingerprint.h"
#include "base/llvm_memory.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "base/threads.h"
#include "base/timing.h"
#include "llvm/ADT/StringSet.h"
#include "passes/codegen/gpu/attention_plan.h"
#include "passes/codegen/gpu/expand_math.h"
#include "passes/codegen/gpu/gpu_kernel.h"
#include "passes/codegen/gpu/group_entry.h"
#include "passes/codegen/gpu/ptx.h"
#include "passes/codegen/gpu/walk.h"
#include "passes/codegen/kernel_emitter.h"
#include "passes/codegen/kernel_text.h"
#include "passes/codegen/lower_math.h"
#include "passes/codegen/owned_ir.h"
#include "passes/codegen/ready_queue.h"
#include "passes/codegen/translate.h"
#include "passes/exec/dialect.h"
#include "runtime/commands/gpu_launch.h"

namespace tandem {
namespace {

using Clock = std::chrono::steady_clock;

// A kernel being compiled.
struct Job {
  void LeaveIr() {
    ir.Leave();
    walk_ir.Leave();
  }

  mlir::func::FuncOp function;
  std::string key;  // the kernel's key in the cache of compiled kernels
  CompiledGpuKernel kernel;
  GpuPlan plan;
  bool grouped = false;  // the kernel also gets an entry for exec.grouped_launch
  OwnedIr ir, walk_ir;
  absl::Status status;
};

bool AllScalars(mlir::func::FuncOp kernel) {
  auto scalar = [](mlir::Type t) { return mlir::cast<mlir::RankedTensorType>(t).getRank() == 0; };
  return llvm::all_of(kernel.getArgumentTypes(), scalar) && llvm::all_of(kernel.getResultTypes(), scalar);
}

Job MakeJob(mlir::func::FuncOp kernel, bool grouped, const GpuCompileOptions& options) {
  Job job;
  job.function = kernel;
  job.grouped = grouped;
  job.kernel.name = kernel.getName().str();
  if (auto kind = exec::GetKernelKind(kernel)) job.kernel.domain = exec::DomainOf(*kind);
  std::string text = KernelText(kernel);
  absl::StrAppend(&text, "\ncuda\n", absl::StrJoin(options.archs, ","), "\n", options.rows, "\n", options.build);
  if (grouped) absl::StrAppend(&text, "\ngrouped");
  const auto fingerprint = [&] {
    return absl::StrFormat("%016x%016x", Fingerprint64(text, 1), Fingerprint64(text, 2));
  };
  // The same name whether or not code for a walk (a run on a CPU in tests) is made.
  job.kernel.symbol = absl::StrCat("td_", fingerprint());
  if (options.walk) absl::StrAppend(&text, "\n", options.walk_target.cpu, "\n", options.walk_target.features);
  if (!options.ptx) absl::StrAppend(&text, "\nno PTX");
  job.key = fingerprint();
  return job;
}

// Returns a kernel's entry in the cache: a line with the numbers of its launch and the lengths of all texts, then the
// texts.
CachedKernel Pack(const CompiledGpuKernel& kernel) {
  const format::GpuLaunch& l = kernel.launch;
  std::vector<uint64_t> numbers = {l.block,        l.items_per_block, l.split,
                                   l.shared_bytes, l.scratch_bytes,   kernel.walk_object.size()};
  for (const std::string& ptx : kernel.ptx) numbers.push_back(ptx.size());
  std::string bytes = absl::StrCat(absl::StrJoin(numbers, " "), "\n", kernel.walk_object);
  for (const std::string& ptx : kernel.ptx) absl::StrAppend(&bytes, ptx);
  return {std::move(bytes), ""};
}

bool Unpack(absl::string_view bytes, size_t archs, CompiledGpuKernel& kernel) {
  const size_t line = bytes.find('\n');
  if (line == absl::string_view::npos) return false;
  std::vector<uint64_t> n;
  for (absl::string_view word : absl::StrSplit(bytes.substr(0, line), ' ')) {
    uint64_t number;
    if (!absl::SimpleAtoi(word, &number)) return false;
    n.push_back(number);
  }
  if (n.size() != 6 + archs) return false;
  bytes.remove_prefix(line + 1);
  auto take = [&](uint64_t size) {
    std::string text(bytes.substr(0, size));
    bytes.remove_prefix(std::min<uint64_t>(size, bytes.size()));
    return text;
  };
  format::GpuLaunch& l = kernel.launch;
  l.block = n[0];
  l.items_per_block = n[1];
  l.split = n[2];
  l.shared_bytes = n[3];
  l.scratch_bytes = n[4];
  kernel.walk_object = take(n[5]);
  for (size_t i = 0; i < archs; ++i) kernel.ptx.push_back(take(n[6 + i]));
  return bytes.empty();
}

bool TakeFromCache(const GpuCompileOptions& options, Job& job) {
  std::optional<CachedKernel> found = options.cache.Find(job.key);
  CompiledGpuKernel kernel = job.kernel;
  if (!found || !Unpack(found->elf_object, options.ptx ? options.archs.size() : 0, kernel)) return false;
  job.kernel = std::move(kernel);
  job.kernel.cached = true;
  return true;
}

absl::Status Prepare(const GpuCompileOptions& options, Job& job) {
  auto start = Clock::now();
  TD_ASSIGN_OR_RETURN(GpuKernel emitted,
                      EmitGpuKernel(job.function, job.kernel.symbol, options.rows, options.archs.front()));
  ExpandMath(*emitted.module, AllScalars(job.function));
  // For GPUs LLVM rounds to bfloat16 in one instruction from sm_90 on, and in integer arithmetic before. For CPUs
  // without such an instruction it would call a function, so in code for a walk (a run on a CPU in tests) LowerMath
  // expands the rounding.
  mlir::OwningOpRef<mlir::ModuleOp> walked;
  if (options.walk) {
    walked = emitted.module->clone();
    TD_RETURN_IF_ERROR(LowerMath(*walked, /*precise=*/false, /*native_bfloat16=*/false));
  }
  TD_RETURN_IF_ERROR(LowerMath(*emitted.module, /*precise=*/false, /*native_bfloat16=*/true));
  job.plan = emitted.plan;
  format::GpuLaunch& launch = job.kernel.launch;
  launch.block = job.plan.block;
  launch.items_per_block = job.plan.items_per_block;
  launch.split = job.plan.split;
  launch.shared_bytes = 0;  // all shared memory is static
  launch.scratch_bytes = job.plan.scratch_bytes;
  if (job.grouped && (job.plan.split != 1 || job.plan.scratch_bytes > 0)) {
    return absl::InternalError("blocks of a kernel for many sets of operands must share nothing");
  }
  auto translate = [&](mlir::ModuleOp from, OwnedIr& to) -> absl::Status {
    to.context = std::make_unique<llvm::LLVMContext>();
    TD_ASSIGN_OR_RETURN(to.module, TranslateToLlvmIr(from, *to.context, emitted.index_bits));
    const std::string& symbol = job.kernel.symbol;
    if (job.grouped) AddGroupEntry(*to.module, symbol, GpuGroupSymbol(symbol), job.plan.items_per_block);
    return absl::OkStatus();
  };
  TD_RETURN_IF_ERROR(translate(*emitted.module, job.ir));
  if (options.walk) TD_RETURN_IF_ERROR(translate(*walked, job.walk_ir));
  job.kernel.seconds = SecondsSince(start);
  return absl::OkStatus();
}

absl::Status Generate(const GpuCompileOptions& options, Job& job) {
  std::vector<PtxEntry> entries = {{job.kernel.symbol, job.plan.block, job.plan.blocks_per_processor}};
  if (job.grouped) {
    entries.push_back({GpuGroupSymbol(job.kernel.symbol), job.plan.block, job.plan.blocks_per_processor});
  }
  if (options.ptx) {
    TD_ASSIGN_OR_RETURN(job.kernel.ptx, CompileToPtx(*job.ir.module, entries, job.plan.shared_bytes, options.archs));
  }
  if (options.walk) {
    std::vector<std::string> names;
    for (const PtxEntry& entry : entries) names.push_back(entry.symbol);
    TD_ASSIGN_OR_RETURN(job.kernel.walk_object,
                        CompileToWalk(*job.walk_ir.module, names, job.plan.shared_bytes, options.walk_target));
  }
  return absl::OkStatus();
}

absl::Status Finish(const GpuCompileOptions& options, Job& job) {
  auto start = Clock::now();
  absl::Status status = Generate(options, job);
  if (status.ok()) options.cache.Store(job.key, Pack(job.kernel));
  job.ir.Destroy();
  job.walk_ir.Destroy();
  job.kernel.seconds += SecondsSince(start);
  return status;
}

absl::Status Annotated(const absl::Status& status, const std::string& name) {
  return Annotate(status, absl::StrCat("compiling ", name, ": "));
}

}  // namespace

std::vector<int> GpuArchsFor(mlir::Operation* kernels, int sm) {
  bool matrices = false;
  kernels->walk([&](mlir::func::FuncOp f) {
    const std::optional<Factors> factors = exec::GetKernelKind(f) ? AttentionFactors(f, sm) : std::nullopt;
    matrices |= factors && *factors != Factors::kFloat32;
  });
  const int oldest = matrices ? 80 : 75;
  return sm >= 90 ? std::vector<int>{oldest, 90} : std::vector<int>{oldest};
}

absl::StatusOr<CompiledGpuKernels> CompileGpuKernels(mlir::ModuleOp module, const GpuCompileOptions& options) {
  for (int arch : options.archs) TD_RETURN_IF_ERROR(CheckPtxArch(arch));
  LoadCodegenDialects(*module.getContext());
  llvm::StringSet<> grouped;
  module.walk([&](exec::GroupedLaunchOp group) { grouped.insert(group.getKernel()); });
  std::vector<Job> jobs;
  std::vector<Job*> missing;
  for (auto kernel : module.getOps<mlir::func::FuncOp>()) {
    if (exec::GetKernelKind(kernel)) jobs.push_back(MakeJob(kernel, grouped.contains(kernel.getName()), options));
  }
  absl::flat_hash_map<std::string, int> uses;
  for (Job& job : jobs) {
    // Passes merge equal kernels, but if two are equal all the same, their symbols must differ for the driver.
    if (int use = uses[job.key]++; use > 0) {
      absl::StrAppend(&job.key, "-", use);
      absl::StrAppend(&job.kernel.symbol, "_", use);
    }
    if (!TakeFromCache(options, job)) missing.push_back(&job);
  }
  // Only this thread makes LLVM IR, because that reads the MLIR context, which no two threads may use. Other threads
  // compile the IR that is ready.
  ReadyQueue<Job> ready(missing.size());
  auto finish = [&] {
    const LlvmMemoryScope scope("compiling kernels");
    while (Job* job = ready.Take()) {
      job->status = CatchWithIr(*job, [&] { return Finish(options, *job); });
    }
  };
  const int others = std::min(options.threads, static_cast<int>(missing.size())) - 1;
  absl::StatusOr<std::vector<std::thread>> helpers = StartThreads("compiling", others, [&](int) { finish(); });
  if (!helpers.ok()) TD_LOG(WARNING) << "compiling with one thread: " << helpers.status().message();
  for (Job* job : missing) {
    job->status = CatchWithIr(*job, [&] { return Prepare(options, *job); });
    if (job->status.ok()) ready.Add(job);
  }
  ready.Close();
  finish();
  if (helpers.ok()) {
    for (std::thread& helper : *helpers) helper.join();
  }
  CompiledGpuKernels result;
  for (Job& job : jobs) {
    TD_RETURN_IF_ERROR(Annotated(job.status, job.kernel.name));
    result.kernels.push_back(std::move(job.kernel));
  }
  for (size_t i = 0; options.ptx && i < options.archs.size(); ++i) {
    std::vector<absl::string_view> texts;
    for (const CompiledGpuKernel& kernel : result.kernels) texts.push_back(kernel.ptx[i]);
    result.images.push_back({options.archs[i], JoinPtx(options.archs[i], texts)});
  }
  return result;
}

absl::StatusOr<CompiledGpuKernel> CompileGpuKernel(mlir::func::FuncOp kernel, const GpuCompileOptions& options) {
  for (int arch : options.archs) TD_RETURN_IF_ERROR(CheckPtxArch(arch));
  LoadCodegenDialects(*kernel.getContext());
  Job job = MakeJob(kernel, options.grouped, options);
  TD_RETURN_IF_ERROR(Annotated(Prepare(options, job), job.kernel.name));
  TD_RETURN_IF_ERROR(Annotated(Finish(options, job), job.kernel.name));
  return std::move(job.kernel);
}

}  // namespace tandem
