#include "tools/run/reference_check.h"

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/llvm_memory.h"
#include "base/status_macros.h"
#include "graph/interpreter/interpreter.h"
#include "graph/ir/dialect.h"
#include "graph/ir/replica_values.h"
#include "graph/ir/shape.h"
#include "graph/ir/signature.h"
#include "graph/ir/text_check.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "passes/base/report_segments.h"
#include "passes/base/step_signature.h"
#include "passes/exec/dialect.h"
#include "passes/serialize/constant_names.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

// Returns the IR text at the end of a phase; empty if the executable does not have it.
absl::string_view PhaseText(const Executable& executable, absl::string_view phase) {
  const auto& segments = executable.index().segments;
  for (size_t i = 0; i < segments.size(); ++i) {
    if (segments[i].kind == format::SegmentKind::kIrText && segments[i].name == phase) {
      return executable.segment(static_cast<int>(i));
    }
  }
  return {};
}

// Returns the bytes of the program's constants by the names under which the IR text of a phase refers to them.
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

// Puts the values of constants, which the IR text only names, into the module. DataLoss if the executable does not have
// them.
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

absl::StatusOr<TensorError> Compare(const std::map<std::string, td::RefTensor>& expected, const std::string& name,
                                    const HostTensor& value) {
  auto it = expected.find(name);
  if (it == expected.end()) return absl::InternalError(absl::StrCat("the reference has no value for \"", name, "\""));
  const td::RefTensor got = ToRefTensor(value);
  const td::RefTensor& want = it->second;
  if (got.shape != want.shape) {
    return absl::InternalError(absl::StrCat("\"", name, "\" has shape ", ShapeString(got.shape),
                                            ", in the reference it has ", ShapeString(want.shape)));
  }
  TensorError result;
  for (size_t i = 0; i < want.values.size(); ++i) {
    const double a = got.values[i], b = want.values[i];
    if (std::isfinite(b)) result.magnitude = std::max(result.magnitude, std::abs(b));
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    const double error = std::abs(a - b);
    result.error = std::max(result.error, std::isfinite(error) ? error : std::numeric_limits<double>::infinity());
  }
  return result;
}

}  // namespace

struct ReferenceCheck::Impl {
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp step;
  InterpreterResults results;
};

ReferenceCheck::ReferenceCheck(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ReferenceCheck::~ReferenceCheck() = default;

absl::StatusOr<std::unique_ptr<ReferenceCheck>> ReferenceCheck::Create(const Executable& executable) {
  const std::string& phase = executable.index().reference_phase;
  const absl::string_view text = PhaseText(executable, phase);
  if (text.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(executable.name(), " holds no IR of phase ", phase, ", so there is nothing to check against"));
  }
  const LlvmMemoryScope scope("reading the IR");
  auto impl = std::make_unique<Impl>();
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, td::TdDialect, exec::ExecDialect>();
  impl->context.appendDialectRegistry(registry);
  std::string error;
  mlir::ScopedDiagnosticHandler handler(&impl->context, [&](mlir::Diagnostic& d) {
    if (error.empty()) error = d.str();
    return mlir::success();
  });
  if (absl::Status s = td::CheckText(text, phase); !s.ok()) {
    return absl::DataLossError(absl::StrCat(executable.name(), ": the IR of phase ", s.message()));
  }
  // The parser needs a zero byte after the text, which the copy has.
  impl->module = mlir::parseSourceString<mlir::ModuleOp>(std::string(text), &impl->context);
  if (impl->module) impl->step = impl->module->lookupSymbol<mlir::func::FuncOp>("step");
  if (!impl->step) {
    return absl::DataLossError(absl::StrCat(executable.name(), ": the IR of phase ", phase,
                                            " cannot be read: ", error.empty() ? "there is no function @step" : error));
  }
  if (mlir::failed(VerifyStepSignature(impl->step))) {
    return absl::DataLossError(absl::StrCat(executable.name(), ": the IR of phase ", phase, ": ", error));
  }
  TD_RETURN_IF_ERROR(ReadConstants(executable, *impl->module));
  return std::unique_ptr<ReferenceCheck>(new ReferenceCheck(std::move(impl)));
}

absl::Status ReferenceCheck::CanStandFor(int replicas) const {
  if (replicas <= 1) return absl::OkStatus();
  std::string reason;
  for (unsigned i = 0; i < impl_->step.getNumArguments(); ++i) {
    const mlir::StringAttr scalar = td::ScalarOf(impl_->step, i);
    if (scalar && td::IsReplicaScalar(scalar.getValue())) reason = absl::StrCat("the scalar ", scalar.str());
  }
  impl_->step.walk([&](mlir::Operation* op) {
    if (td::HasReplicaScope(op)) reason = op->getName().getStringRef().str();
  });
  if (reason.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "the program has statistics of each replica (", reason,
      "), which the reference computes for one: ", "give at most as many rows as one replica takes (--rows)"));
}

absl::Status ReferenceCheck::Evaluate(int64_t rows, const Tensors& inputs, const Tensors& variables,
                                      const StepScalars& scalars) {
  for (const auto& [name, value] : scalars) {
    constexpr int64_t kExact = int64_t{1} << 53;
    if (!value.integral() || (value.integer() >= -kExact && value.integer() <= kExact)) continue;
    return absl::InvalidArgumentError(absl::StrCat("the reference computes with doubles, which do not hold ", name, " ",
                                                   value.integer(), "; take one of at most 2^53"));
  }
  InterpreterInputs in;
  in.batch = rows;
  for (const auto& [name, value] : inputs) in.inputs[name] = ToRefTensor(value);
  for (const auto& [name, value] : variables) in.variables[name] = ToRefTensor(value);
  const auto set = [&](const std::string& name, double value) {
    in.scalars[name] = {.dtype = DType::kFloat64, .shape = {}, .values = {value}};
  };
  for (const auto& [name, value] : scalars) set(name, value);
  for (const char* name : {"example_count", "replica_example_count"}) set(name, static_cast<double>(rows));
  set("replica_index", 0);
  const LlvmMemoryScope scope("computing the reference");
  TD_ASSIGN_OR_RETURN(impl_->results, Interpret(impl_->step, in));
  return absl::OkStatus();
}

std::vector<std::string> ReferenceCheck::updated_variables() const {
  std::vector<std::string> names;
  for (const auto& entry : impl_->results.variables) names.push_back(entry.first);
  return names;
}

absl::StatusOr<TensorError> ReferenceCheck::CompareOutput(const std::string& name, const HostTensor& value) const {
  return Compare(impl_->results.outputs, name, value);
}

absl::StatusOr<TensorError> ReferenceCheck::CompareVariable(const std::string& name, const HostTensor& value) const {
  return Compare(impl_->results.variables, name, value);
}

}  // namespace tandem
