// tandem-opt: runs passes or phases on MLIR text, for lit tests and for looking into the compiler.
//
// With passes ("-td-schedule"), single phases ("-td-phase-layout") or -pass-pipeline it is MLIR's usual pass driver.
// With any of the options below it runs the compiler's phases instead, as when a program is compiled, with the settings
// in the module's attribute exec.config.
#include <string>
#include <vector>

#include "base/env.h"
#include "base/exit_code.h"
#include "base/llvm_memory.h"
#include "base/posix_error.h"
#include "base/program.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "base/text_file.h"
#include "graph/ir/dialect.h"
#include "graph/ir/text_check.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "passes/exec/dialect.h"
#include "passes/machine_code/compile_target.h"
#include "passes/pipeline/pipeline.h"
#include "passes/stablehlo/to_stablehlo_pass.h"
#include "passes/target/target.h"

namespace tandem {
namespace {

namespace cl = llvm::cl;

cl::OptionCategory category("Tandem's phases");
cl::opt<std::string> compile_from("compile-from", cl::desc("First phase to run (default: the first)"),
                                  cl::value_desc("PHASE"), cl::cat(category));
cl::opt<std::string> compile_to("compile-to", cl::desc("Last phase to run (default: the last)"),
                                cl::value_desc("PHASE"), cl::cat(category));
cl::list<std::string> print_before("print-ir-before", cl::desc("Print the module to stderr before this pass"),
                                   cl::value_desc("PASS"), cl::cat(category));
cl::list<std::string> print_after("print-ir-after", cl::desc("Print the module to stderr after this pass"),
                                  cl::value_desc("PASS"), cl::cat(category));
cl::list<std::string> disabled("disable-pass", cl::desc("Leave this pass out of its phase"), cl::value_desc("NAME"),
                               cl::cat(category));
cl::opt<std::string> crash_reproducer(
    "crash-reproducer", cl::desc("Where to write the module before a phase's pass that fails, for --run-reproducer"),
    cl::value_desc("FILE"), cl::cat(category));

cl::opt<std::string> target(
    "target",
    cl::desc("What the phases compile for: cpu:native, cpu:x86-64-v3, cuda:sm_90, ... (default: as in exec.config)"),
    cl::value_desc("NAME"), cl::cat(category));

bool RunsPhases() {
  return target.getNumOccurrences() || compile_from.getNumOccurrences() || compile_to.getNumOccurrences() ||
         crash_reproducer.getNumOccurrences() || !print_before.empty() || !print_after.empty() || !disabled.empty();
}

// Returns the text of a file that is safe to parse, without a byte order mark.
absl::StatusOr<std::unique_ptr<llvm::MemoryBuffer>> ReadInput(const std::string& input) {
  std::unique_ptr<llvm::MemoryBuffer> text;
  if (input == "-") {
    llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> read = llvm::MemoryBuffer::getSTDIN();
    if (!read) return PosixError(read.getError().value(), "read", "standard input");
    text = std::move(*read);
  } else {
    TD_ASSIGN_OR_RETURN(const std::string read, Env::Default()->ReadFile(input));
    text = llvm::MemoryBuffer::getMemBufferCopy(read, input);
  }
  const absl::string_view bytes(text->getBufferStart(), text->getBufferSize());
  TD_ASSIGN_OR_RETURN(const int64_t mark, ByteOrderMarkSize(bytes, input == "-" ? "standard input" : input));
  if (absl::Status s = td::CheckText(bytes.substr(mark), input); !s.ok()) return WithExitCode(s, kExitBadData);
  if (mark > 0) text = llvm::MemoryBuffer::getMemBufferCopy(text->getBuffer().drop_front(mark), input);
  return text;
}

absl::Status WriteOutput(const std::string& output, llvm::function_ref<absl::Status(llvm::raw_ostream&)> write) {
  std::string error;
  std::unique_ptr<llvm::ToolOutputFile> file = mlir::openOutputFile(output, &error);
  if (!file) return WithExitCode(absl::UnknownError(error), kExitIo);
  TD_RETURN_IF_ERROR(write(file->os()));
  file->os().flush();
  if (const std::error_code failed = file->os().error()) {
    file->os().clear_error();  // otherwise the stream's destructor would end the process
    return PosixError(failed.value(), "write", output == "-" ? "standard output" : output);
  }
  file->keep();
  return absl::OkStatus();
}

absl::Status RunPasses(const std::string& input, const std::string& output, mlir::DialectRegistry& registry) {
  TD_ASSIGN_OR_RETURN(std::unique_ptr<llvm::MemoryBuffer> text, ReadInput(input));
  return WriteOutput(output, [&](llvm::raw_ostream& os) {
    const auto config = mlir::MlirOptMainConfig::createFromCLOptions();
    if (mlir::succeeded(mlir::MlirOptMain(os, std::move(text), registry, config))) return absl::OkStatus();
    return absl::InternalError("the passes failed (see above)");
  });
}

absl::Status RunPhases(const std::string& input, const std::string& output, const mlir::DialectRegistry& registry) {
  TD_ASSIGN_OR_RETURN(std::unique_ptr<llvm::MemoryBuffer> text, ReadInput(input));
  mlir::MLIRContext context(registry);
  mlir::PassManager passes(&context);
  if (mlir::failed(mlir::MlirOptMainConfig::createFromCLOptions().setupPassPipeline(passes)) || passes.size() > 0) {
    return absl::InvalidArgumentError("give single passes or options of the phases (--compile-to and so on), not both");
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(text), llvm::SMLoc());
  mlir::OwningOpRef<mlir::ModuleOp> module;
  {
    mlir::SourceMgrDiagnosticHandler handler(sources, &context);
    module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  }
  if (!module) return WithExitCode(absl::InvalidArgumentError(input + " is not valid (see above)"), kExitBadData);
  PipelineOptions options{.compile_from = compile_from,
                          .compile_to = compile_to,
                          .disabled_passes = disabled,
                          .print_before = print_before,
                          .print_after = print_after,
                          .verify_each = true,
                          .crash_reproducer = crash_reproducer};
  if (!target.empty()) {
    TD_ASSIGN_OR_RETURN(const std::unique_ptr<CompileTarget> parsed, ParseTarget(std::string(target)));
    SetTarget(*module, parsed->Attribute(&context));
  }
  TD_RETURN_IF_ERROR(RunPipeline(*module, options, nullptr));
  return WriteOutput(output, [&](llvm::raw_ostream& os) {
    module->print(os);
    return absl::OkStatus();
  });
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  tandem::PrepareStandardStreams();
  return tandem::RunMain("tandem-opt", [&]() -> int {
    const tandem::LlvmMemoryScope scope("the passes");
    llvm::InitLLVM init(argc, argv, /*InstallPipeSignalExitHandler=*/false);
    mlir::DialectRegistry registry;
    registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::math::MathDialect, mlir::scf::SCFDialect,
                    tandem::td::TdDialect, tandem::exec::ExecDialect>();
    tandem::RegisterPasses();
    tandem::stablehlo::RegisterToStableHloPass();
    auto [input, output] = mlir::registerAndParseCLIOptions(argc, argv, "Tandem's pass driver\n", registry);
    absl::Status status =
        tandem::RunsPhases() ? tandem::RunPhases(input, output, registry) : tandem::RunPasses(input, output, registry);
    return tandem::FinishProgram("tandem-opt", status);
  });
}
