#include "graph/graph_builder.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/element_count.h"
#include "base/logging.h"
#include "graph/builder/finite_values.h"
#include "graph/gradients/gradients.h"
#include "graph/ir/interfaces.h"
#include "graph/ir/replica_values.h"
#include "graph/ir/state.h"
#include "graph/module/graph_module.h"
#include "graph/ops/ops_internal.h"
#include "llvm/Support/raw_ostream.h"

namespace tandem {

using internal::GraphModule;

namespace {

mlir::Value ValueOf(void* value) { return mlir::Value::getFromOpaquePointer(value); }
llvm::StringRef Ref(absl::string_view s) { return {s.data(), s.size()}; }

constexpr absl::string_view kNoString =
    "cannot be string: a program computes with numbers; turn strings into numbers in the input pipeline (Dataset::Map)";
constexpr absl::string_view kNoBFloat16 =
    "cannot be bfloat16: declare it float32, and the compiler chooses where bfloat16 is used "
    "(RunConfig.precision = mixed_bfloat16)";

}  // namespace

GraphBuilder::GraphBuilder(absl::string_view name)
    : origin_(std::make_shared<internal::TensorOrigin>(internal::TensorOrigin{.graph = this, .error = {}})),
      module_(std::make_unique<GraphModule>(name)) {}

GraphBuilder::~GraphBuilder() {
  origin_->graph = nullptr;
  origin_->error = absl::InvalidArgumentError(
      "the Tensor's graph is gone: it was kept longer than the Estimator (or GraphBuilder) that it is of");
}

const absl::Status& GraphBuilder::status() const { return module_->status(); }
void GraphBuilder::Fail(absl::Status status) { module_->Fail(std::move(status)); }

Tensor GraphBuilder::FailAt(absl::string_view op, absl::string_view message, SourceLocation loc) {
  Fail(module_->Error(op, module_->Scoped(internal::OpDisplayName(op, {})), loc, message));
  return Poisoned();
}

std::string GraphBuilder::UniqueName(absl::string_view base) { return module_->UniqueScope(base); }
void GraphBuilder::PushScope(absl::string_view name) { module_->PushScope(name); }
void GraphBuilder::PopScope() { module_->PopScope(); }

Tensor GraphBuilder::Input(absl::string_view name, DType dtype, const Shape& shape, SourceLocation loc) {
  if (!status().ok()) return Poisoned();
  auto error = [&](absl::string_view message) {
    Fail(module_->Error("input", name, loc, message));
    return Poisoned();
  };
  if (name.empty()) return error("has no name");
  if (dtype == DType::kInvalid) return error("has no dtype");
  if (dtype == DType::kBFloat16) return error(kNoBFloat16);
  if (dtype == DType::kString) return error(kNoString);
  if (shape.empty() || shape[0] != kBatch)
    return error(absl::StrCat("shape ", ShapeString(shape), " must start with the batch (kBatch)"));
  for (size_t i = 1; i < shape.size(); ++i) {
    if (shape[i] < 1) return error(absl::StrCat("shape ", ShapeString(shape), " must be static beyond the batch"));
  }
  if (CheckedNumElements(absl::MakeConstSpan(shape).subspan(1)) < 0) {
    return error(absl::StrCat("shape ", ShapeString(shape), " has more elements than can be addressed"));
  }
  auto it = module_->inputs.find(std::string(name));
  if (it != module_->inputs.end()) {
    Tensor t = Of(it->second.getAsOpaquePointer());
    if (t.dtype() != dtype || t.shape() != shape)
      return error(absl::StrCat("is ", Name(dtype), " ", ShapeString(shape), " here, but was ", Name(t.dtype()), " ",
                                ShapeString(t.shape()), " before"));
    return t;
  }
  auto type = td::TensorType(&module_->context(), dtype, shape);
  mlir::Value value = module_->builder().create<td::InputOp>(module_->Location(name, loc), type, Ref(name));
  module_->inputs.emplace(name, value);
  module_->Register(name, value);
  return Of(value.getAsOpaquePointer());
}

Tensor GraphBuilder::StepScalar(absl::string_view name, DType dtype, std::optional<double> default_value,
                                SourceLocation loc) {
  if (!status().ok()) return Poisoned();
  auto error = [&](absl::string_view message) {
    Fail(module_->Error("scalar", name, loc, message));
    return Poisoned();
  };
  if (name.empty()) return error("has no name");
  if (dtype == DType::kInvalid) return error("has no dtype");
  if (dtype == DType::kBFloat16) return error(kNoBFloat16);
  if (dtype == DType::kString) return error(kNoString);
  mlir::Value& value = module_->scalars[std::string(name)];
  if (!value) {
    auto type = td::TensorType(&module_->context(), dtype, {});
    value = module_->builder().create<td::ScalarOp>(module_->Location(name, loc), type, Ref(name));
    module_->scalar_defaults.emplace(name, 0);
    module_->Register(name, value);
  }
  Tensor t = Of(value.getAsOpaquePointer());
  if (t.dtype() != dtype) return error(absl::StrCat("is ", Name(dtype), " here, but was ", Name(t.dtype()), " before"));
  if (!default_value.has_value()) return t;
  double& known = module_->scalar_defaults.at(std::string(name));
  const auto [given, first] = module_->scalar_default_locations.emplace(name, loc);
  if (first) {
    known = *default_value;
  } else if (known != *default_value) {
    return error(absl::StrCat("has the default ", *default_value, " here, but ", known, " at ", given->second.file, ":",
                              given->second.line, ": one name has one default; give the second scalar another name"));
  }
  return t;
}

bool GraphBuilder::HasScalarDefault(absl::string_view name) const {
  return module_->scalar_default_locations.count(std::string(name)) > 0;
}

Tensor GraphBuilder::Variable(VariableSpec spec, SourceLocation loc) {
  if (!status().ok()) return Poisoned();
  const bool named = !spec.name.empty();
  if (spec.slot_of.empty() && spec.owner == nullptr) spec.name = module_->Scoped(spec.name);
  auto error = [&](absl::string_view message) {
    Fail(module_->Error("variable", spec.name, loc, message));
    return Poisoned();
  };
  if (!named) return error("has no name");
  if (spec.dtype == DType::kInvalid) return error("has no dtype");
  if (spec.dtype == DType::kBFloat16) return error(kNoBFloat16);
  if (spec.dtype == DType::kString) return error(kNoString);
  for (int64_t d : spec.shape) {
    if (d < 1) return error(absl::StrCat("shape ", ShapeString(spec.shape), " must be static"));
  }
  if (CheckedNumElements(spec.shape) < 0) {
    return error(absl::StrCat("shape ", ShapeString(spec.shape), " has more elements than can be addressed"));
  }
  const Initializer& init = spec.initializer;
  if (!std::isfinite(init.a) || !std::isfinite(init.b)) {
    return error(absl::StrCat("the initialiser's numbers must be finite, got ", init.a, " and ", init.b));
  }
  if (init.kind == Initializer::Kind::kUniform && init.a > init.b) {
    return error(absl::StrCat("the initialiser needs minval <= maxval, got ", init.a, " and ", init.b));
  }
  const bool normal = init.kind == Initializer::Kind::kTruncatedNormal || init.kind == Initializer::Kind::kNormal;
  if (normal && init.b < 0) {
    return error(absl::StrCat("the initialiser needs a standard deviation >= 0, got ", init.b));
  }
  if (!spec.slot_of.empty() && !module_->variable_values.count(spec.slot_of)) {
    return error(absl::StrCat("is a slot of \"", spec.slot_of, "\", and there is no such variable"));
  }
  if (module_->variable_values.count(spec.name)) return error("exists already; give the layer another name");
  auto type = td::TensorType(&module_->context(), spec.dtype, spec.shape);
  mlir::OpBuilder& b = module_->builder();
  mlir::Location location = module_->Location(spec.name, loc);
  {
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(module_->main());
    auto slot = spec.slot_of.empty() ? mlir::StringAttr() : b.getStringAttr(spec.slot_of);
    b.create<td::VariableOp>(location, b.getStringAttr(spec.name), mlir::TypeAttr::get(type),
                             spec.trainable ? b.getUnitAttr() : mlir::UnitAttr(), slot,
                             b.getF64ArrayAttr({static_cast<double>(init.kind), init.a, init.b}));
  }
  mlir::Value value = b.create<td::ReadOp>(location, type, spec.name);
  module_->variable_values.emplace(spec.name, value);
  module_->Register(spec.name, value);
  if (spec.trainable) module_->trainable.push_back(spec.name);
  module_->variables.push_back(std::move(spec));
  return Of(value.getAsOpaquePointer());
}

Tensor GraphBuilder::VariableOf(const std::shared_ptr<const void>& owner) const {
  for (const VariableSpec& v : module_->variables) {
    if (owner != nullptr && v.owner == owner) return Of(module_->variable_values.at(v.name).getAsOpaquePointer());
  }
  return Tensor();
}

Tensor GraphBuilder::AssignedSoFar(const Tensor& variable) const {
  if (!variable.ok() || variable.graph() != this) return variable;
  auto read = ValueOf(variable.value_).getDefiningOp<td::ReadOp>();
  const auto it = read ? module_->assignments.find(read.getVariable().str()) : module_->assignments.end();
  return it != module_->assignments.end() ? Of(it->second->getOperand(0).getAsOpaquePointer()) : variable;
}

void GraphBuilder::Assign(const Tensor& variable, const Tensor& value, SourceLocation loc) {
  if (!status().ok()) return;
  auto error = [&](absl::string_view message) { Fail(module_->Error("assign", variable.name(), loc, message)); };
  if (!variable.ok()) return error(absl::StrCat("the variable ", WhyAbsent(variable)));
  if (!value.ok()) return error(absl::StrCat("the value ", WhyAbsent(value)));
  if (variable.graph() != this || value.graph() != this) return error("mixes tensors of two graphs");
  auto read = ValueOf(variable.value_).getDefiningOp<td::ReadOp>();
  if (!read) return error("needs a tensor that Variable() returned");
  if (variable.dtype() != value.dtype() || variable.shape() != value.shape())
    return error(absl::StrCat("the variable is ", Name(variable.dtype()), " ", ShapeString(variable.shape()),
                              ", the value is ", Name(value.dtype()), " ", ShapeString(value.shape())));
  const std::vector<VariableSpec>& specs = module_->variables;
  auto spec = std::find_if(specs.begin(), specs.end(),
                           [&](const VariableSpec& s) { return read.getVariable() == Ref(s.name); });
  const bool owned = spec != specs.end() && spec->owner != nullptr;
  if (!module_->assigned.insert(read.getVariable().str()).second && !owned) {
    return error("the variable is assigned twice");
  }
  if (const auto it = module_->settled.find(read.getVariable().str()); it != module_->settled.end()) {
    return error(absl::StrCat("its value at the end of the step was taken before this assignment, by ", it->second,
                              "; assign it first"));
  }
  if (!updates_ignored_.empty()) {
    if (std::exchange(warned_of_updates_, true)) return;
    TD_LOG(WARNING) << loc.file << ":" << loc.line << ": the assignment to \"" << variable.name()
                    << "\" and every later one are left out: " << updates_ignored_;
    return;
  }
  const bool statistic = spec != specs.end() && !spec->trainable && spec->slot_of.empty();
  if (!statistic && VariesByReplica(value)) {
    return error(absl::StrCat("replicas would disagree: the value depends on ", ReplicaOrigin(value),
                              ", which each replica computes from its own rows; combine it first, with "
                              "CrossReplicaSum (a gradient) or CrossReplicaMean (a statistic)"));
  }
  Tensor common = Common("assign", value, loc);
  if (!common.ok()) return;
  mlir::Operation*& assignment = module_->assignments[read.getVariable().str()];
  if (assignment != nullptr) assignment->erase();
  assignment = module_->builder().create<td::AssignOp>(module_->Location(module_->TakeName("Assign"), loc),
                                                       read.getVariableAttr(), ValueOf(common.value_));
}

void GraphBuilder::CheckFinite(const Tensor& value, SourceLocation loc) {
  if (!status().ok()) return;
  auto error = [&](absl::string_view message) { Fail(module_->Error("check_finite", value.name(), loc, message)); };
  if (!value.ok()) return error(absl::StrCat("the value ", WhyAbsent(value)));
  if (value.graph() != this) return error("gets a tensor of another graph");
  if (!internal::IsFloat(value.dtype()) || (value.rank() > 0 && value.shape()[0] == kBatch)) {
    return error(absl::StrCat("needs floating-point numbers without a batch, got ", Name(value.dtype()), " ",
                              ShapeString(value.shape()), "; reduce over the batch first"));
  }
  Tensor common = Common("check_finite", value, loc);
  if (!common.ok() || internal::IsFiniteWithBatchSums(ValueOf(common.value_))) return;
  module_->builder().create<td::CheckFiniteOp>(module_->Location(module_->TakeName("CheckFinite"), loc),
                                               ValueOf(common.value_));
}

void GraphBuilder::IgnoreUpdates(absl::string_view because) { updates_ignored_ = std::string(because); }

bool GraphBuilder::VariesByReplica(const Tensor& x) const {
  return x.ok() && module_->replica_values.Vary(ValueOf(x.value_));
}

Tensor GraphBuilder::Common(absl::string_view op, const Tensor& value, SourceLocation loc) {
  if (!VariesByReplica(value)) return value;
  if (value.dtype() == DType::kFloat32 || value.dtype() == DType::kFloat64) {
    return Emit("cross_replica", {value}, {{"kind", "mean"}}, loc);
  }
  return FailAt(op,
                absl::StrCat("\"", value.name(), "\" depends on ", ReplicaOrigin(value),
                             ", which each replica computes from its own rows, and a mean over the replicas is not a ",
                             Name(value.dtype()), ": Cast it to float32"),
                loc);
}

std::string GraphBuilder::ReplicaOrigin(const Tensor& value) const {
  mlir::Operation* op = module_->replica_values.Origin(ValueOf(value.value_));
  if (op == nullptr) return "rows of one replica";
  std::string at = internal::LocationFileLine(op->getLoc());
  return absl::StrCat("\"", internal::LocationName(op->getLoc()), "\"", at.empty() ? "" : " at " + at);
}

Tensor GraphBuilder::Constant(const HostTensor& value, SourceLocation loc) {
  if (!value.status().ok()) return FailAt("constant", value.status().message(), loc);
  if (value.num_elements() == 0) return FailAt("constant", "has no elements", loc);
  return Emit("constant", {}, {{"value", value}}, loc);
}

Tensor GraphBuilder::Constant(float value, SourceLocation loc) { return Constant(HostTensor::Scalar(value), loc); }

void GraphBuilder::Output(absl::string_view name, const Tensor& value, SourceLocation loc) {
  if (!status().ok()) return;
  auto error = [&](absl::string_view message) { Fail(module_->Error("output", name, loc, message)); };
  if (name.empty()) return error("has no name");
  if (!value.ok()) return error(absl::StrCat("the value ", WhyAbsent(value)));
  if (value.graph() != this) return error("gets a tensor of another graph");
  if (auto [it, is_new] = module_->outputs.emplace(std::string(name), loc); !is_new) {
    return error(absl::StrCat("there is an output of this name already, from ", it->second.file, ":", it->second.line,
                              "; choose another name"));
  }
  Tensor common = Common("output", value, loc);
  if (!common.ok()) return;
  module_->builder().create<td::OutputOp>(module_->Location(name, loc), Ref(name), ValueOf(common.value_));
  module_->Register(name, ValueOf(value.value_));
}

Tensor GraphBuilder::Absent(absl::string_view reason) {
  module_->absent_reason = std::string(reason);
  return Poisoned();
}

std::string GraphBuilder::WhyAbsent(const Tensor& tensor) const {
  if (tensor.graph() == this && !module_->absent_reason.empty()) return module_->absent_reason;
  return tandem::WhyAbsent(tensor);
}

Tensor GraphBuilder::Emit(absl::string_view op, absl::Span<const Tensor> operands, const Attrs& attrs,
                          SourceLocation loc) {
  std::vector<Tensor> results = EmitMulti(op, operands, attrs, loc);
  return results.empty() ? Poisoned() : results[0];
}

std::vector<Tensor> GraphBuilder::EmitMulti(absl::string_view op, absl::Span<const Tensor> operands, const Attrs& attrs,
                                            SourceLocation loc) {
  std::vector<Tensor> results;
  if (!status().ok()) return results;
  llvm::SmallVector<mlir::Value> values;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i].ok()) {
      FailAt(op, absl::StrCat("operand ", i, " ", WhyAbsent(operands[i])), loc);
      return results;
    }
    if (operands[i].graph() != this) {
      FailAt(op, absl::StrCat("operand ", i, " (\"", operands[i].name(), "\") belongs to another graph"), loc);
      return results;
    }
    values.push_back(ValueOf(operands[i].value_));
  }
  absl::StatusOr<mlir::Operation*> operation = module_->Emit(op, values, attrs, loc);
  if (!operation.ok()) {
    Fail(operation.status());
    return results;
  }
  for (mlir::Value v : (*operation)->getResults()) results.push_back(Of(v.getAsOpaquePointer()));
  return results;
}

std::vector<Tensor> GraphBuilder::Gradients(const Tensor& loss, absl::Span<const Tensor> xs, SourceLocation loc) {
  std::vector<Tensor> results(xs.size());
  if (!status().ok()) return results;
  if (!loss.ok() || loss.graph() != this) {
    FailAt("gradients",
           loss.ok() ? "the loss is a tensor of another graph" : absl::StrCat("the loss: ", loss.status().message()),
           loc);
    return results;
  }
  if (loss.rank() != 0 || (loss.dtype() != DType::kFloat32 && loss.dtype() != DType::kFloat64)) {
    FailAt("gradients",
           absl::StrCat("the loss \"", loss.name(), "\" is ", Name(loss.dtype()), " ", ShapeString(loss.shape()),
                        "; it must be a floating-point scalar (take a ReduceMean or ReduceSum)"),
           loc);
    return results;
  }
  // The value that is reported for a loss that differs between replicas is its mean, so the mean is differentiated.
  Tensor common = Common("gradients", loss, loc);
  if (!common.ok()) return results;
  llvm::SmallVector<mlir::Value> values;
  for (const Tensor& x : xs) {
    if (!x.ok() || x.graph() != this) {
      FailAt("gradients", "an x is not a tensor of this graph", loc);
      return results;
    }
    values.push_back(ValueOf(x.value_));
  }
  module_->differentiated.push_back(ValueOf(loss.value_));
  absl::StatusOr<std::vector<mlir::Value>> gradients =
      internal::BuildGradients(*module_, ValueOf(common.value_), values, loc);
  if (!gradients.ok()) {
    Fail(gradients.status());
    return results;
  }
  for (size_t i = 0; i < xs.size(); ++i) {
    if ((*gradients)[i]) results[i] = Of((*gradients)[i].getAsOpaquePointer());
  }
  return results;
}

std::string GraphBuilder::WhyNoGradient(const Tensor& loss, absl::Span<const Tensor> xs) const {
  llvm::SmallVector<mlir::Value> values;
  if (!loss.ok() || loss.graph() != this) return "the loss is not a tensor of this graph";
  for (const Tensor& x : xs) {
    if (x.ok() && x.graph() == this) values.push_back(ValueOf(x.value_));
  }
  return internal::DescribeGradientCuts(module_->builder(), ValueOf(loss.value_), values);
}

void GraphBuilder::AddRegularizationLoss(const Tensor& loss, SourceLocation loc) {
  if (!status().ok()) return;
  std::string problem;
  if (!loss.ok()) {
    problem = absl::StrCat("the loss ", WhyAbsent(loss));
  } else if (loss.graph() != this) {
    problem = "is a tensor of another graph";
  } else if (loss.rank() != 0 || (loss.dtype() != DType::kFloat32 && loss.dtype() != DType::kFloat64)) {
    problem = absl::StrCat("must be a floating-point scalar, got ", Name(loss.dtype()), " ", ShapeString(loss.shape()));
  }
  if (problem.empty()) {
    regularization_losses_.push_back(loss);
  } else {
    FailAt("AddRegularizationLoss", problem, loc);
  }
}

std::vector<std::string> GraphBuilder::UnusedRegularizationLosses(const Tensor& loss) const {
  std::vector<mlir::Value> roots = module_->differentiated;
  if (loss.ok() && loss.graph() == this) roots.push_back(ValueOf(loss.value_));
  std::vector<std::string> unused;
  if (regularization_losses_.empty()) return unused;
  const llvm::DenseSet<mlir::Operation*> used = internal::OpsBehind(roots);
  for (const Tensor& term : regularization_losses_) {
    mlir::Operation* op = ValueOf(term.value_).getDefiningOp();
    if (op == nullptr || used.contains(op)) continue;
    const std::string name = internal::LocationName(op->getLoc());
    unused.push_back(absl::StrCat("\"", name.substr(0, name.find("/Regularizer/")), "\" at ",
                                  internal::LocationFileLine(op->getLoc())));
  }
  return unused;
}

Tensor GraphBuilder::Find(absl::string_view name) const {
  mlir::Value v = module_->Find(name);
  return v ? Of(v.getAsOpaquePointer()) : Tensor();
}

std::vector<std::string> GraphBuilder::names() const { return module_->names(); }

const std::map<std::string, SourceLocation>& GraphBuilder::outputs() const { return module_->outputs; }

const std::vector<VariableSpec>& GraphBuilder::variables() const { return module_->variables; }

std::vector<Tensor> GraphBuilder::trainable_variables() const {
  std::vector<Tensor> result;
  for (const std::string& name : module_->trainable) {
    result.push_back(Of(module_->variable_values.at(name).getAsOpaquePointer()));
  }
  return result;
}

const std::map<std::string, double>& GraphBuilder::scalar_defaults() const { return module_->scalar_defaults; }

std::string GraphBuilder::ToString(bool with_locations) const {
  std::string text;
  llvm::raw_string_ostream out(text);
  mlir::OpPrintingFlags flags;
  if (with_locations) flags.enableDebugInfo(true, /*prettyForm=*/true);
  module_->module()->print(out, flags);
  return out.str();
}

}  // namespace tandem
