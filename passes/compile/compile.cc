#include "passes/compile/compile.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/env.h"
#include "base/exit_code.h"
#include "base/fingerprint.h"
#include "base/llvm_memory.h"
#include "base/logging.h"
#include "base/release_memory.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "base/temporary_files.h"
#include "base/text_file.h"
#include "base/timing.h"
#include "base/unsynced_files.h"
#include "graph/index_range.h"
#include "graph/ir/state.h"
#include "graph/module/graph_module.h"
#include "graph/replicas.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/analysis/machine_model.h"
#include "passes/base/build_id.h"
#include "passes/base/compile_times.h"
#include "passes/contraction/choice.h"
#include "passes/exec/dialect.h"
#include "passes/machine_code/compile_target.h"
#include "passes/pipeline/pipeline.h"
#include "passes/pipeline/tandem_flags.h"
#include "passes/serialize/constant_names.h"
#include "passes/serialize/serialize.h"
#include "runtime/device_classes/device_classes.h"
#include "runtime/session/kernel_library.h"

namespace tandem {
namespace {

using Clock = std::chrono::steady_clock;

std::atomic<int64_t> compile_count{0};

mlir::ArrayAttr Strings(mlir::MLIRContext* context, const std::vector<std::string>& strings) {
  llvm::SmallVector<mlir::Attribute> attributes;
  for (const std::string& s : strings) attributes.push_back(mlir::StringAttr::get(context, s));
  return strings.empty() ? mlir::ArrayAttr() : mlir::ArrayAttr::get(context, attributes);
}

// Stores the options of the passes as an attribute of the module, so that they are part of every dump.
absl::Status SetConfig(mlir::ModuleOp module, absl::string_view mode, const CompileTarget& target,
                       absl::string_view machine, const CompileOptions& options) {
  mlir::MLIRContext* context = module.getContext();
  context->loadDialect<exec::ExecDialect>();
  llvm::SmallVector<mlir::Attribute> choices;
  for (const std::string& text : options.contractions) {
    TD_ASSIGN_OR_RETURN(const exec::ContractionOverrideAttr choice, ParseOverride(context, text));
    choices.push_back(choice);
  }
  const auto text = [&](absl::string_view s) {
    return mlir::StringAttr::get(context, llvm::StringRef(s.data(), s.size()));
  };
  const PrecisionLists& p = options.precision_lists;
  const bool lists = !p.allow.empty() || !p.infer.empty() || !p.clear.empty() || !p.deny.empty();
  module->setAttr(
      exec::kConfigAttr,
      exec::CompileConfigAttr::get(
          context, text(mode), Strings(context, options.devices), options.batch_per_replica, options.lanes,
          options.microbatch_rows, options.precision,
          lists ? exec::PrecisionListsAttr::get(context, Strings(context, p.allow), Strings(context, p.infer),
                                                Strings(context, p.clear), Strings(context, p.deny))
                : exec::PrecisionListsAttr(),
          options.tf32, options.memory_limit, options.guard_buffers, exec::kDefaultBucketBytes,
          exec::kDefaultFirstBucketBytes, text(machine), target.Attribute(context),
          choices.empty() ? mlir::ArrayAttr() : mlir::ArrayAttr::get(context, choices),
          options.part.servers == 0 ? exec::PartAttr()
                                    : exec::PartAttr::get(context, options.part.servers, options.part.server),
          options.cross_device_ops.empty() ? mlir::StringAttr() : text(options.cross_device_ops),
          options.communication_dtype == DType::kBFloat16 ? mlir::BFloat16Type::get(context) : mlir::Type()));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<CompileTarget>> CheckedTarget(const CompileOptions& options) {
  absl::StatusOr<std::unique_ptr<CompileTarget>> parsed = ParseTarget(options.target);
  if (!parsed.ok()) return WithExitCode(parsed.status(), kExitUsage);
  std::unique_ptr<CompileTarget> target = *std::move(parsed);
  for (const std::string& device : options.devices) {
    if (absl::StartsWith(device, absl::StrCat(target->device_class(), ":"))) continue;
    return WithExitCode(
        absl::InvalidArgumentError(absl::StrCat("target \"", options.target, "\" is not for the device ", device)),
        kExitUsage);
  }
  if (!options.cross_device_ops.empty() && target->device_class() != "cpu") {
    return WithExitCode(
        absl::InvalidArgumentError(absl::StrCat("cross-device ops \"", options.cross_device_ops,
                                                "\" are for CPUs; target \"", options.target, "\" is none")),
        kExitUsage);
  }
  if (options.communication_dtype != DType::kFloat32 && target->device_class() != "cpu") {
    return WithExitCode(
        absl::InvalidArgumentError(absl::StrCat("communication_dtype ", Name(options.communication_dtype),
                                                " is for CPUs; target \"", options.target, "\" is none")),
        kExitUsage);
  }
  if (absl::Status status = target->CheckRows(options); !status.ok()) return WithExitCode(status, kExitUsage);
  return target;
}

// Returns the machine model that the passes use: the name of a built-in one, or the text of the user's.
absl::StatusOr<std::string> MachineModelAttribute(const CompileTarget& target, const CompileOptions& options) {
  if (options.machine_model.empty()) return target.MachineModelName();
  TD_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(Env::Default(), options.machine_model));
  TD_ASSIGN_OR_RETURN(const MachineModel model, ParseMachineModel(options.machine_model, text));
  return MachineModelText(model);
}

// Returns the precision to compile with: float32 instead of mixed_bfloat16, with a warning, where the machine
// multiplies bfloat16 numbers hardly faster, since conversions would make every step slower.
absl::StatusOr<Precision> ProfitablePrecision(const CompileOptions& options, absl::string_view machine,
                                              std::vector<std::string>* warnings) {
  constexpr double kMinGain = 1.25;
  if (options.precision != Precision::kMixedBfloat16) return options.precision;
  TD_ASSIGN_OR_RETURN(const MachineModel model, absl::StrContains(machine, '=')
                                                    ? ParseMachineModel("machine model", machine)
                                                    : BuiltInMachineModel(machine));
  if (model.library_bf16 >= kMinGain * model.library_f32) return options.precision;
  warnings->push_back(absl::StrFormat(
      "precision mixed_bfloat16 is computed in float32: bfloat16 products run at %.4g GFLOP/s here and float32's at "
      "%.4g (machine model \"%s\"; tandem-calibrate measures this machine)",
      1e-9 * model.library_bf16, 1e-9 * model.library_f32, model.name));
  return Precision::kFloat32;
}

// Returns the key of the cache: a fingerprint of everything that the bytes of the executable depend on.
std::string CacheKey(mlir::ModuleOp module, const CompileTarget& target, const CompileOptions& options) {
  constexpr int64_t kPrinted = 16;  // constants of more elements are printed as a name that contains their fingerprint
  std::string text = ConstantPrinter().Print(module, kPrinted, mlir::OpPrintingFlags().enableDebugInfo(true));
  absl::StrAppend(&text, target.CodeKey(options), BuildId(), absl::StrJoin(options.disabled_passes, ","));
  return absl::StrFormat("%016x%016x", Fingerprint64(text, 1), Fingerprint64(text, 2));
}

// Returns, for every input that ops take as indices, how many index values are valid.
std::map<std::string, uint64_t> IndicesOfInputs(GraphBuilder& graph) {
  std::map<std::string, uint64_t> indices;
  graph.module().module().walk([&](td::InputOp op) {
    const mlir::Type type = op.getResult().getType();
    const DType dtype = td::ToDType(mlir::getElementTypeOrSelf(type));
    // The input exists already, and GraphBuilder::Input returns it.
    const IndexRange range = IndexRangeOf(graph.Input(op.getName().str(), dtype, td::ToShape(type)));
    if (range.size > 0) indices[op.getName().str()] = range.size;
  });
  return indices;
}

// Deletes temporary files of processes that were killed while they wrote to the cache. Errors are ignored: a file that
// cannot be deleted belongs to somebody else.
void DeleteLeftovers(const std::string& dir, absl::string_view ending) {
  DeleteTemporaries(Env::Default(), dir, [&](absl::string_view target) {
    return absl::EndsWith(target, ending);
  }).IgnoreError();
}

absl::StatusOr<HostTensor> Compile(mlir::ModuleOp module, const std::string& key, absl::string_view mode,
                                   const CompileTarget& target, std::map<std::string, uint64_t> indices,
                                   std::vector<std::string> warnings, const CompileOptions& options) {
  ++compile_count;
  SerializeOptions serialize;
  PipelineOptions pipeline;
  pipeline.disabled_passes = options.disabled_passes;
  pipeline.print_before = options.print_before;
  pipeline.print_after = options.print_after;
  pipeline.crash_reproducer = options.crash_reproducer;
  CompileTimes times;
  pipeline.times = &times;
  pipeline.warnings = &serialize.warnings;
  pipeline.constants = &serialize.constants;
  serialize.indices = std::move(indices);
  serialize.warnings = std::move(warnings);
  auto start = Clock::now();
  TD_RETURN_IF_ERROR(RunPipeline(module, pipeline, &serialize.ir));
  times.Add("text of the phases", SecondsSince(start) - times.total());
  start = Clock::now();
  std::string kernel_dir = options.kernel_cache_dir;
  if (kernel_dir.empty() && !options.cache_dir.empty()) kernel_dir = JoinPath(options.cache_dir, "kernels");
  if (!kernel_dir.empty()) DeleteLeftovers(kernel_dir, ".tdk");
  TD_ASSIGN_OR_RETURN(MachineCode code, target.MakeCode(module, options, kernel_dir));
  serialize.images = std::move(code.images);
  serialize.planner = std::move(code.planner);
  if (code.kernel_ir) serialize.ir.push_back({"codegen", *std::move(code.kernel_ir)});
  times.Add(absl::StrCat("code of ", code.kernels.size(), " kernels on ", options.threads, " threads"),
            SecondsSince(start));
  start = Clock::now();
  serialize.mode = std::string(mode);
  serialize.key = key;
  serialize.producer = absl::StrCat("tandem ", BuildId());
  serialize.target = target.Requirements();
  serialize.target_name = target.Name();
  serialize.instructions = target.LibraryInstructions();
  TD_ASSIGN_OR_RETURN(HostTensor bytes, SerializeExecutable(module, code.kernels, serialize));
  times.Add("executable", SecondsSince(start));
  if (options.print_times) {
    std::cerr << "Compiling for mode " << mode << ":\n"
              << times.Text() << "Kernels:\n"
              << code.kernel_times.Text() << "Stages of kernels:\n"
              << code.stage_times.Text();
  }
  return bytes;
}

absl::StatusOr<std::shared_ptr<const Executable>> LoadOrCompile(GraphBuilder& graph, absl::string_view mode,
                                                                const CompileOptions& compile_options);

}  // namespace

absl::StatusOr<std::string> GpuTargetName(int sm) { return TargetForComputeCapability(sm); }

absl::StatusOr<std::string> DeviceClassOfTarget(absl::string_view target) {
  const LlvmMemoryScope scope("looking at the processor");
  absl::StatusOr<std::unique_ptr<CompileTarget>> parsed = ParseTarget(target);
  if (!parsed.ok()) return WithExitCode(parsed.status(), kExitUsage);
  return std::string((*parsed)->device_class());
}

int64_t CompileCount() { return compile_count; }

absl::StatusOr<std::shared_ptr<const Executable>> CompileGraph(GraphBuilder& graph, absl::string_view mode,
                                                               const CompileOptions& compile_options) {
  return CatchResourceErrors("compiling", [&] { return LoadOrCompile(graph, mode, compile_options); });
}

namespace {

absl::StatusOr<std::shared_ptr<const Executable>> LoadOrCompile(GraphBuilder& graph, absl::string_view mode,
                                                                const CompileOptions& compile_options) {
  TD_RETURN_IF_ERROR(graph.status());
  TD_RETURN_IF_ERROR(CheckLlvmMemory("compiling"));
  auto scope = std::make_optional<LlvmMemoryScope>("compiling");
  CompileOptions options = compile_options;
  if (const char* flags = std::getenv("TANDEM_FLAGS")) TD_RETURN_IF_ERROR(ApplyTandemFlags(flags, &options));
  TD_RETURN_IF_ERROR(CheckReplicas(graph, static_cast<int64_t>(options.devices.size())));
  TD_ASSIGN_OR_RETURN(const std::unique_ptr<CompileTarget> target, CheckedTarget(options));
  TD_ASSIGN_OR_RETURN(const std::string machine, MachineModelAttribute(*target, options));
  std::vector<std::string> warnings;
  TD_ASSIGN_OR_RETURN(options.precision, ProfitablePrecision(options, machine, &warnings));
  if (options.precision == Precision::kMixedBfloat16) {
    if (absl::Status status = target->UseMixedBfloat16(); !status.ok()) return WithExitCode(status, kExitUsage);
  }
  if (const std::vector<std::string> missing = target->MissingHere(); !missing.empty()) {
    TD_LOG(WARNING) << "target " << target->Name() << " has " << absl::StrJoin(missing, ", ")
                    << ", which this machine lacks: the kernel library is asked here what it would choose there, and a "
                    << "machine where it chooses otherwise refuses the program; then compile it on that machine";
  }
  TD_ASSIGN_OR_RETURN(const KernelLibrary* library, KernelLibraryOf(target->device_class()));
  TD_RETURN_IF_ERROR(library->UseInstructions(target->LibraryInstructions()));
  // The graph stays as the user built it; the passes work on a copy.
  mlir::OwningOpRef<mlir::ModuleOp> module(graph.module().module().clone());
  if (absl::Status s = SetConfig(*module, mode, *target, machine, options); !s.ok()) return WithExitCode(s, kExitUsage);
  std::string key = CacheKey(*module, *target, options);
  // The cache file, for example "train-0123456789abcdef.tdx", or "train_ps0-0123456789abcdef.tdx" for a parameter
  // server's part.
  const std::string server = options.part.server >= 0 ? absl::StrCat("_ps", options.part.server) : "";
  std::string path = options.cache_dir.empty()
                         ? ""
                         : absl::StrCat(options.cache_dir, "/", mode, server, "-", key.substr(0, 16), ".tdx");
  Env* env = Env::Default();
  // --print-ir-* and --timing need the passes to run: skip the cache.
  const bool prints = options.print_times || !options.print_before.empty() || !options.print_after.empty();
  if (!path.empty() && !prints && env->Exists(path)) {
    // `scope` may end the process if memory runs out in the compiler. It must not do so while a cached file is loaded,
    // where that is an ordinary error.
    scope.reset();
    absl::StatusOr<std::shared_ptr<const Executable>> cached = Executable::Load(path);
    if (cached.ok() && (*cached)->index().key == key) {
      for (const std::string& warning : (*cached)->index().warnings) TD_LOG(WARNING) << warning;
      return cached;
    }
    TD_LOG(WARNING) << "the cached executable " << path << " is not usable ("
                    << (cached.ok() ? "it has another key" : cached.status().message()) << "); compiling again";
  }
  scope.emplace("compiling");
  for (const std::string& warning : warnings) TD_LOG(WARNING) << warning;
  TD_ASSIGN_OR_RETURN(const HostTensor bytes,
                      Compile(*module, key, mode, *target, IndicesOfInputs(graph), std::move(warnings), options));
  module = nullptr;
  scope.reset();
  // Loads the executable before it is stored in the cache, since a file that cannot be loaded would disturb every later
  // start. Freed memory is returned to the system only afterwards, so that loading can use it.
  TD_ASSIGN_OR_RETURN(
      std::shared_ptr<const Executable> executable,
      Executable::FromBytes(bytes, path.empty() ? absl::StrCat(std::string(mode), " executable") : path));
  // A training run compiles for a second and trains for hours, so the compiler's code and heap are given back to the
  // system.
  ReleaseFreedMemory();
  ReleaseLibraryPages({kOwnObject, "libLLVM", "libMLIR"});
  if (!path.empty()) {
    // Written without fsync: the start waits for this, and a file that a crash of the machine damages is compiled
    // again.
    absl::Status stored = CreateDirsUnsynced(env, options.cache_dir);
    DeleteLeftovers(options.cache_dir, ".tdx");
    const absl::string_view text(static_cast<const char*>(bytes.raw()), static_cast<size_t>(bytes.byte_size()));
    if (stored.ok()) stored = WriteFileUnsynced(env, path, text);
    if (!stored.ok() && options.cache_required) return stored;
    if (!stored.ok()) {
      TD_LOG(WARNING) << "the compiled program is not kept, so that the next run compiles it again: "
                      << stored.message();
    }
  }
  return executable;
}

}  // namespace
}  // namespace tandem
