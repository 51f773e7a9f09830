#include "tools/run/reference_check.h"

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/llvm_memory.h"
#include "base/status_macros.h"
#include "graph/ir/replica_values.h"
#include "graph/ir/signature.h"
#include "graph/reference/interpreter.h"
#include "passes/serialize/stored_graph.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

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
  mlir::func::FuncOp step() const { return graph->step(); }

  std::unique_ptr<StoredGraph> graph;
  InterpreterResults results;
};

ReferenceCheck::ReferenceCheck(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ReferenceCheck::~ReferenceCheck() = default;

absl::StatusOr<std::unique_ptr<ReferenceCheck>> ReferenceCheck::Create(const Executable& executable) {
  const LlvmMemoryScope scope("reading the IR");
  auto impl = std::make_unique<Impl>();
  absl::StatusOr<std::unique_ptr<StoredGraph>> graph =
      StoredGraph::Read(executable, executable.index().reference_phase);
  if (absl::IsFailedPrecondition(graph.status())) {
    return Annotate(graph.status(), "", ", so there is nothing to check against");
  }
  TD_RETURN_IF_ERROR(graph.status());
  impl->graph = std::move(*graph);
  return std::unique_ptr<ReferenceCheck>(new ReferenceCheck(std::move(impl)));
}

absl::Status ReferenceCheck::CanStandFor(int replicas) const {
  if (replicas <= 1) return absl::OkStatus();
  std::string reason;
  for (unsigned i = 0; i < impl_->step().getNumArguments(); ++i) {
    const mlir::StringAttr scalar = td::ScalarOf(impl_->step(), i);
    if (scalar && td::IsReplicaScalar(scalar.getValue())) reason = absl::StrCat("the scalar ", scalar.str());
  }
  impl_->step().walk([&](mlir::Operation* op) {
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
  TD_ASSIGN_OR_RETURN(impl_->results, Interpret(impl_->step(), in));
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
