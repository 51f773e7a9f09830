#include "passes/pipeline.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "base/timing.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/assign_buffers.h"
#include "passes/block_weight_grads.h"
#include "passes/bucket_all_reduce.h"
#include "passes/check_memory.h"
#include "passes/decompose.h"
#include "passes/expand_small_convolution.h"
#include "passes/expand_small_matmul.h"
#include "passes/explain_fusion.h"
#include "passes/fold_batch_norm.h"
#include "passes/form_fusions.h"
#include "passes/form_shard_map.h"
#include "passes/group_updates.h"
#include "passes/insert_all_reduce.h"
#include "passes/insert_finite_check.h"
#include "passes/lift_variables.h"
#include "passes/number_collectives.h"
#include "passes/outline_direct_convolutions.h"
#include "passes/outline_kernels.h"
#include "passes/outline_weight_grads.h"
#include "passes/outline_winograd.h"
#include "passes/pack_filter_grads.h"
#include "passes/paint_precision.h"
#include "passes/pass_util.h"
#include "passes/record_pool_argmax.h"
#include "passes/rematerialize.h"
#include "passes/replicate.h"
#include "passes/schedule.h"
#include "passes/select_libraries.h"
#include "passes/step_signature.h"
#include "passes/take_gpu_epilogues.h"
#include "passes/unsupported.h"
#include "passes/verify_phase.h"
#include "passes/warn_batch_constants.h"
#include "passes/winograd.h"

namespace tandem {
namespace {

using PassList = std::vector<std::unique_ptr<mlir::Pass>>;

template <typename... P>
PassList List(P... passes) {
  PassList list;
  (list.push_back(std::move(passes)), ...);
  return list;
}

std::vector<Phase> MakePhases() {
  std::vector<Phase> phases;
  // Nothing later sees variables as state: after lifting, a step is a pure function that CSE and DCE understand.
  phases.push_back({"input", "verify, canonicalise, lift variables to arguments and results", [] {
                      return List(mlir::createCanonicalizerPass(), mlir::createCSEPass(), createLiftVariablesPass(),
                                  mlir::createCanonicalizerPass(), createWarnBatchConstantsPass(),
                                  createVerifyPhasePass("input"));
                    }});
  // Weights are scaled before they are rounded. Element types are final from here on: all-reduce counts bytes, and
  // library ops and kernels are chosen by type.
  phases.push_back(
      {"precision", "weights that batch norm scales, element types",
       [] { return List(createFoldBatchNormPass(), createPaintPrecisionPass(), createVerifyPhasePass("precision")); }});
  // Composite ops fall apart before the maps are formed, because batch statistics become reductions over the batch.
  // Collectives are numbered before replicas are made, so that their order is equal on all ranks.
  phases.push_back({"distribute", "shard map, all-reduce, buckets, numbers, replicas", [] {
                      return List(createDecomposePass(), createExpandSmallMatMulPass(), mlir::createCanonicalizerPass(),
                                  mlir::createCSEPass(), createRecordPoolArgmaxPass(), createBlockWeightGradsPass(),
                                  createFormShardMapPass(), createRematerializePass(), createInsertAllReducePass(),
                                  createBucketAllReducePass(), createInsertFiniteCheckPass(),
                                  createNumberCollectivesPass(), createReplicatePass(),
                                  createVerifyPhasePass("distribute"));
                    }});
  // Activations are NHWC everywhere; weights are packed once per step, outside the maps, for the primitive that reads
  // them. Library ops take their epilogues before loops are fused, since a fused loop costs another pass over memory.
  phases.push_back({"layout", "library primitives, epilogues and weight layouts", [] {
                      return List(createExpandSmallConvolutionPass(), createPackFilterGradsPass(), createWinogradPass(),
                                  createSelectLibrariesPass(), createTakeGpuEpiloguesPass(), mlir::createCSEPass(),
                                  createVerifyPhasePass("layout"));
                    }});
  phases.push_back({"fusion", "clusters, outlined kernels, grouped updates", [] {
                      return List(createOutlineWinogradPass(), createOutlineWeightGradsPass(),
                                  createOutlineDirectConvolutionsPass(), createFormFusionsPass(),
                                  createOutlineKernelsPass(), createGroupUpdatesPass(),
                                  createVerifyPhasePass("fusion"));
                    }});
  phases.push_back(
      {"schedule", "order of execution", [] { return List(createSchedulePass(), createVerifyPhasePass("schedule")); }});
  phases.push_back({"memory", "arenas and offsets", [] {
                      return List(createAssignBuffersPass(), createCheckMemoryPass(), createVerifyPhasePass("memory"));
                    }});
  return phases;
}

bool Contains(const std::vector<std::string>& names, llvm::StringRef name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

absl::Status CheckNames(const PipelineOptions& options) {
  std::vector<std::string> phases, passes;
  for (const Phase& p : Phases()) {
    phases.push_back(p.name);
    for (const auto& pass : p.passes()) passes.push_back(pass->getArgument().str());
  }
  for (const std::string& phase : {options.compile_from, options.compile_to}) {
    if (!phase.empty() && !Contains(phases, phase)) {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown phase \"", phase, "\"; phases are: ", absl::StrJoin(phases, ", ")));
    }
  }
  auto position = [&](const std::string& phase) { return std::find(phases.begin(), phases.end(), phase); };
  if (!options.compile_to.empty() && !options.compile_from.empty() &&
      position(options.compile_to) < position(options.compile_from)) {
    return absl::InvalidArgumentError(
        absl::StrCat("phase ", options.compile_to, " comes before ", options.compile_from,
                     ": there is nothing to compile; phases are: ", absl::StrJoin(phases, ", ")));
  }
  for (const auto* list : {&options.disabled_passes, &options.print_before, &options.print_after}) {
    for (const std::string& pass : *list) {
      if (!Contains(passes, pass)) {
        std::sort(passes.begin(), passes.end());
        passes.erase(std::unique(passes.begin(), passes.end()), passes.end());
        return absl::InvalidArgumentError(
            absl::StrCat("unknown pass \"", pass, "\"; passes are: ", absl::StrJoin(passes, ", ")));
      }
    }
  }
  return absl::OkStatus();
}

// What an earlier phase would have made sure of, for text that starts behind it.
absl::Status CheckGivenStep(mlir::ModuleOp module, const std::string& compile_from) {
  if (compile_from.empty() || compile_from == Phases().front().name) return absl::OkStatus();
  mlir::func::FuncOp step = StepFunction(module);
  if (step && mlir::succeeded(VerifyStepSignature(step)) && mlir::succeeded(VerifyStepVariables(module, step)) &&
      mlir::succeeded(VerifyLaunches(module, step))) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("this program cannot go on from phase ", compile_from, ": ",
                                                 step ? "" : "it has no function @step"));
}

// Text that can be parsed again unless constants of more than `max_elements` were left out (0: none is). Locations
// stand behind their ops, not in a list of aliases at the end.
std::string Print(mlir::ModuleOp module, int64_t max_elements) {
  std::string text;
  llvm::raw_string_ostream os(text);
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo(true).useLocalScope();
  if (max_elements > 0) flags.elideLargeElementsAttrs(max_elements);
  module.print(os, flags);
  return text;
}

constexpr int64_t kShownElements = 64;     // for people
constexpr int64_t kStoredElements = 4096;  // in every phase but the first, which is stored whole: see RunPipeline

// What the reference interpreter runs to check a program: the graph, with the types it computes in.
bool StoredWhole(mlir::ModuleOp module, const std::string& phase) {
  auto precision = module->getAttrOfType<mlir::StringAttr>("td.precision");
  const bool mixed = precision && precision.getValue() == "mixed_bfloat16";
  return phase == "input" || (phase == "precision" && mixed);
}

}  // namespace

const std::vector<Phase>& Phases() {
  static const auto* phases = new std::vector<Phase>(MakePhases());
  return *phases;
}

absl::Status RunPipeline(mlir::ModuleOp module, const PipelineOptions& options,
                         std::vector<std::pair<std::string, std::string>>* snapshots) {
  TD_RETURN_IF_ERROR(CheckNames(options));
  std::string first_error;
  mlir::ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic& d) {
    std::string file;
    int line = 0;
    std::string where = LocationFileLine(d.getLocation(), &file, &line) ? absl::StrCat(file, ":", line, ": ") : "";
    std::string name = LocationName(d.getLocation());
    std::string text = absl::StrCat(where, name.empty() ? "" : absl::StrCat("\"", name, "\": "), d.str());
    if (d.getSeverity() == mlir::DiagnosticSeverity::Error) {
      if (first_error.empty()) first_error = text;
    } else if (d.getSeverity() == mlir::DiagnosticSeverity::Warning) {
      TD_LOG(WARNING) << text;
      if (options.warnings != nullptr) options.warnings->push_back(text);
    }
    return mlir::success();
  });
  if (absl::Status s = CheckGivenStep(module, options.compile_from); !s.ok()) {
    return WithExitCode(absl::InvalidArgumentError(absl::StrCat(s.message(), first_error)), kExitBadData);
  }
  bool started = options.compile_from.empty();
  for (const Phase& phase : Phases()) {
    started = started || phase.name == options.compile_from;
    if (!started) continue;
    PassList passes = phase.passes();
    for (auto& pass : passes) {
      std::string name = pass->getArgument().str();
      if (Contains(options.disabled_passes, name)) continue;
      if (Contains(options.print_before, name))
        llvm::errs() << "// IR before " << name << "\n" << Print(module, kShownElements) << "\n";
      auto start = std::chrono::steady_clock::now();
      mlir::PassManager manager(module.getContext());
      manager.enableVerifier(options.verify_each || &pass == &passes.back());
      manager.addPass(std::move(pass));
      if (mlir::failed(manager.run(module))) {
        if (IsMarkedUnsupported(module)) {
          return WithExitCode(absl::UnimplementedError(first_error), kExitCompileError);
        }
        return WithExitCode(absl::InternalError(absl::StrCat("compilation failed in phase ", phase.name, ", pass ",
                                                             name, ": ", first_error)),
                            kExitCompileError);
      }
      if (options.times != nullptr) {
        options.times->Add(absl::StrCat(phase.name, ": ", name), SecondsSince(start));
      }
      if (Contains(options.print_after, name))
        llvm::errs() << "// IR after " << name << "\n" << Print(module, kShownElements) << "\n";
    }
    const std::string decisions = TakeFusionDecisions(module);
    if (snapshots) {
      if (!decisions.empty()) snapshots->push_back({kFusionDecisions, decisions});
      snapshots->push_back({phase.name, Print(module, StoredWhole(module, phase.name) ? 0 : kStoredElements)});
    }
    if (phase.name == options.compile_to) break;
  }
  return absl::OkStatus();
}

void RegisterPasses() {
  static bool done = [] {
    for (const Phase& phase : Phases()) {
      for (size_t i = 0; i < phase.passes().size(); ++i) {
        std::string name = phase.passes()[i]->getArgument().str();
        static std::vector<std::string> known;
        if (name == "canonicalize" || name == "cse" || Contains(known, name)) continue;
        known.push_back(name);
        mlir::registerPass([&phase, i] { return std::move(phase.passes()[i]); });
      }
    }
    return true;
  }();
  (void)done;
}

}  // namespace tandem
