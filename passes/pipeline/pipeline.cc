#include "passes/pipeline/pipeline.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "graph/ir/shape.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/base/step_signature.h"
#include "passes/base/unsupported.h"
#include "passes/phases/memory/buffer_table.h"
#include "passes/pipeline/phases.h"
#include "passes/pipeline/pipeline_instrumentation.h"

namespace tandem {
namespace {

bool Contains(const std::vector<std::string>& names, llvm::StringRef name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

absl::Status CheckNames(const PipelineOptions& options) {
  std::vector<std::string> phases, passes;
  for (const Phase& p : Phases()) {
    phases.push_back(p.name);
    passes.insert(passes.end(), p.passes.begin(), p.passes.end());
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
  // Without copies td-assign-buffers would place results over values that are still read.
  if (constexpr char kCopies[] = "td-insert-copies"; Contains(options.disabled_passes, kCopies)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--disable-pass=", kCopies, ": without this pass programs compute wrong values; leave it in"));
  }
  return absl::OkStatus();
}

// Checks that every constant has its numbers: printed IR may have only a name for them (constant_names.h).
absl::Status CheckConstants(mlir::ModuleOp module) {
  absl::Status status;
  module.walk([&](td::ConstantOp op) {
    const auto named = mlir::dyn_cast<mlir::DenseResourceElementsAttr>(op.getValue());
    if (!named) return;
    std::string file;
    int line = 0;
    const bool placed = LocationFileLine(op.getLoc(), &file, &line);
    status.Update(absl::InvalidArgumentError(absl::StrCat(
        placed ? absl::StrCat(file, ":", line, ": ") : "", "the text leaves out the numbers of the constant ",
        named.getRawHandle().getKey().str(), ", so that this program cannot be compiled from it; compile the model ",
        "that it was printed of, or write the numbers as dense<...>")));
  });
  return WithExitCode(status, kExitBadData);
}

// If a program enters the pipeline at a later phase, checks what the phases before guarantee.
absl::Status CheckGivenStep(mlir::ModuleOp module, const std::string& compile_from) {
  if (compile_from.empty() || compile_from == Phases().front().name) return absl::OkStatus();
  mlir::func::FuncOp step = StepFunction(module);
  if (step && mlir::succeeded(VerifyStepSignature(step)) && mlir::succeeded(VerifyStepVariables(module, step)) &&
      mlir::succeeded(VerifyLaunches(module, step)) &&
      (compile_from != "commands" || mlir::succeeded(VerifyBuffers(step)))) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("this program cannot go on from phase ", compile_from, ": ",
                                                 step ? "" : "it has no function @step"));
}

// Adds the passes of `phase` except those in `disabled`.
mlir::LogicalResult AddPasses(const Phase& phase, const std::vector<std::string>& disabled,
                              mlir::OpPassManager& manager) {
  for (const std::string& pass : phase.passes) {
    if (!Contains(disabled, pass) && mlir::failed(mlir::parsePassPipeline(pass, manager))) return mlir::failure();
  }
  return mlir::success();
}

// Adds the phases that `options` ask for, in order.
absl::Status AddPhases(const PipelineOptions& options, mlir::PassManager& manager,
                       PipelineInstrumentation& instrumentation) {
  bool started = options.compile_from.empty();
  for (const Phase& phase : Phases()) {
    started = started || phase.name == options.compile_from;
    if (!started) continue;
    const size_t before = manager.size();
    if (mlir::failed(AddPasses(phase, options.disabled_passes, manager))) {
      return absl::InternalError(absl::StrCat("phase ", phase.name, " names a pass that does not exist"));
    }
    instrumentation.AddPhase(phase, llvm::drop_begin(manager.getPasses(), before));
    if (phase.name == options.compile_to) break;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunPipeline(mlir::ModuleOp module, const PipelineOptions& options, PhaseTexts* snapshots) {
  TD_RETURN_IF_ERROR(CheckNames(options));
  TD_RETURN_IF_ERROR(CheckConstants(module));
  std::string first_error, last_note;
  mlir::ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic& d) {
    std::string file;
    int line = 0;
    std::string where = LocationFileLine(d.getLocation(), &file, &line) ? absl::StrCat(file, ":", line, ": ") : "";
    std::string name = LocationName(d.getLocation());
    std::string text = absl::StrCat(where, name.empty() ? "" : absl::StrCat("\"", name, "\": "), d.str());
    if (d.getSeverity() == mlir::DiagnosticSeverity::Error) {
      if (first_error.empty()) first_error = text;
      for (const mlir::Diagnostic& note : d.getNotes()) last_note = note.str();
    } else if (d.getSeverity() == mlir::DiagnosticSeverity::Warning) {
      TD_LOG(WARNING) << text;
      if (options.warnings != nullptr) options.warnings->push_back(text);
    }
    return mlir::success();
  });
  if (absl::Status s = CheckGivenStep(module, options.compile_from); !s.ok()) {
    return WithExitCode(absl::InvalidArgumentError(absl::StrCat(s.message(), first_error)), kExitBadData);
  }
  RegisterPasses();
  mlir::MLIRContext* context = module.getContext();
  auto manager = mlir::PassManager::on<mlir::ModuleOp>(context);
  manager.enableVerifier(options.verify_each);
  auto instrumentation = std::make_unique<PipelineInstrumentation>(options, snapshots);
  PipelineInstrumentation& passes = *instrumentation;
  manager.addInstrumentation(std::move(instrumentation));
  TD_RETURN_IF_ERROR(AddPhases(options, manager, passes));
  const auto restore = llvm::make_scope_exit([context, threads = context->isMultithreadingEnabled()] {
    if (threads) context->enableMultithreading();
  });
  if (!options.crash_reproducer.empty()) {
    // MLIR keeps the module as it was before each pass only if passes run on one thread.
    context->disableMultithreading();
    manager.enableCrashReproducerGeneration(options.crash_reproducer, /*genLocalReproducer=*/true);
  }
  passes.BeforePasses(module);
  if (mlir::succeeded(manager.run(module))) return absl::OkStatus();
  if (IsMarkedUnsupported(module)) return WithExitCode(absl::UnimplementedError(first_error), kExitCompileError);
  // With a crash reproducer, the last error is the pass manager's, whose note says where the reproducer is.
  const std::string reproducer = options.crash_reproducer.empty() ? "" : absl::StrCat("; ", last_note);
  return WithExitCode(
      absl::InternalError(absl::StrCat("compilation failed in ", passes.Running(), ": ", first_error, reproducer)),
      kExitCompileError);
}

void RegisterPasses() {
  static const bool done = [] {
    mlir::registerCanonicalizerPass();
    mlir::registerCSEPass();
    registerTandemPasses();
    for (const Phase& phase : Phases()) {
      mlir::registerPassPipeline(
          "td-phase-" + phase.name, "The passes of phase " + phase.name + ": " + phase.summary,
          [&phase](mlir::OpPassManager& manager, llvm::StringRef options, auto error) {
            if (!options.empty()) return error("a phase has no options");
            return AddPasses(phase, {}, manager);
          },
          [](auto) {});
    }
    return true;
  }();
  (void)done;
}

}  // namespace tandem
