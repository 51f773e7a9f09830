#include "passes/serialize/stored_graph.h"

#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "graph/ir/dialect.h"
#include "graph/ir/shape.h"
#include "graph/ir/text_check.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Parser/Parser.h"
#include "passes/base/report_segments.h"
#include "passes/base/step_signature.h"
#include "passes/exec/dialect.h"
#include "passes/serialize/constant_names.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

// Returns the text of a phase; empty if the executable has none.
absl::string_view TextOfPhase(const Executable& executable, absl::string_view phase) {
  const auto& segments = executable.index().segments;
  for (size_t i = 0; i < segments.size(); ++i) {
    if (segments[i].kind == format::SegmentKind::kIrText && segments[i].name == phase) {
      return executable.segment(static_cast<int>(i));
    }
  }
  return {};
}

// Returns the constants of the program by the names that they have in the text of a phase.
std::map<std::string, absl::string_view> ConstantsByName(const Executable& executable) {
  std::map<std::string, absl::string_view> found;
  const format::Index& index = executable.index();
  for (size_t i = 0; i < index.segments.size(); ++i) {
    if (absl::StartsWith(index.segments[i].name, kConstantPrefix)) {
      found[index.segments[i].name] = executable.segment(static_cast<int>(i));
    }
  }
  const absl::string_view constants = executable.constants();
  for (const auto& program : index.programs) {
    for (const auto& buffer : program.buffers) {
      if (buffer.space != format::Space::kConstant) continue;
      const absl::string_view bytes = constants.substr(buffer.offset, buffer.bytes);
      found[ConstantName({bytes.data(), bytes.size()})] = bytes;
    }
  }
  return found;
}

// Restores the numbers of constants. DataLoss if the executable does not have them.
absl::Status ReadConstants(const Executable& executable, mlir::ModuleOp module) {
  absl::Status status;
  std::map<std::string, absl::string_view> constants;
  module.walk([&](td::ConstantOp op) {
    auto named = mlir::dyn_cast<mlir::DenseResourceElementsAttr>(op.getValue());
    if (!named) return;
    const std::string name = named.getRawHandle().getKey().str();
    if (constants.empty()) constants = ConstantsByName(executable);
    const absl::string_view bytes = constants[name];
    if (auto elements = ConstantOfBytes(named.getType(), {bytes.data(), bytes.size()})) {
      op.setValueAttr(elements);
    } else {
      status.Update(
          absl::DataLossError(absl::StrCat(executable.name(), ": has ", bytes.size(), " bytes of the constant ", name,
                                           ", which its text names; delete it, it will be compiled again")));
    }
  });
  return status;
}

}  // namespace

StoredGraph::StoredGraph() {
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, td::TdDialect, exec::ExecDialect>();
  context_.appendDialectRegistry(registry);
}

absl::StatusOr<std::unique_ptr<StoredGraph>> StoredGraph::Read(const Executable& executable, const std::string& phase) {
  const absl::string_view text = TextOfPhase(executable, phase);
  if (text.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(executable.name(), " holds no IR of phase ", phase));
  }
  std::unique_ptr<StoredGraph> graph(new StoredGraph);
  std::string error;
  mlir::ScopedDiagnosticHandler handler(&graph->context_, [&](mlir::Diagnostic& d) {
    if (error.empty()) error = d.str();
    return mlir::success();
  });
  if (absl::Status s = td::CheckText(text, phase); !s.ok()) {
    return absl::DataLossError(absl::StrCat(executable.name(), ": the IR of phase ", s.message()));
  }
  // The parser needs a zero after the text.
  graph->module_ = mlir::parseSourceString<mlir::ModuleOp>(std::string(text), &graph->context_);
  if (graph->module_) graph->step_ = graph->module_->lookupSymbol<mlir::func::FuncOp>("step");
  if (!graph->step_) {
    return absl::DataLossError(absl::StrCat(executable.name(), ": the IR of phase ", phase,
                                            " cannot be read: ", error.empty() ? "there is no function @step" : error));
  }
  if (mlir::failed(VerifyStepSignature(graph->step_))) {
    return absl::DataLossError(absl::StrCat(executable.name(), ": the IR of phase ", phase, ": ", error));
  }
  TD_RETURN_IF_ERROR(ReadConstants(executable, *graph->module_));
  return graph;
}

}  // namespace tandem
