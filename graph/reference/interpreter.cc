#include "graph/reference/interpreter.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/bfloat16.h"
#include "base/status_macros.h"
#include "graph/ir/signature.h"
#include "graph/ir/state.h"
#include "llvm/ADT/DenseMap.h"
#include "mlir/IR/BuiltinOps.h"

namespace tandem {

using mlir::Operation;
using mlir::Value;
using td::RefTensor;

namespace {

using Tensors = std::vector<RefTensor>;
using Values = llvm::DenseMap<Value, std::shared_ptr<const RefTensor>>;

class Interpreter {
 public:
  Interpreter(const InterpreterInputs& inputs, InterpreterResults* results) : inputs_(inputs), results_(results) {}

  // Evaluates a block; returns the operands of its terminator.
  absl::StatusOr<Tensors> Run(mlir::Block& block, Tensors arguments) {
    Values values;
    for (auto [argument, value] : llvm::zip(block.getArguments(), arguments)) {
      values[argument] = std::make_shared<RefTensor>(std::move(value));
    }
    for (Operation& op : block.without_terminator()) TD_RETURN_IF_ERROR(RunOp(op, values));
    Operation* terminator = block.getTerminator();
    return Operands(*terminator, values);
  }

  // Returns a named value after checking it against its type in the program.
  absl::StatusOr<RefTensor> Named(const std::map<std::string, RefTensor>& map, absl::string_view what,
                                  const std::string& name, mlir::Type type) const {
    auto it = map.find(name);
    if (it == map.end()) return absl::InvalidArgumentError(absl::StrCat("no ", what, " \"", name, "\" was given"));
    TD_RETURN_IF_ERROR(CheckShape(it->second, absl::StrCat(what, " \"", name, "\""), type));
    return it->second;
  }

  absl::Status CheckShape(const RefTensor& t, absl::string_view what, mlir::Type type) const {
    Shape shape = td::ToShape(type);
    for (int64_t& d : shape) {
      if (d == kBatch) d = inputs_.batch;
    }
    if (shape == t.shape) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(what, " has shape ", ShapeString(t.shape), ", the program needs ",
                                                   ShapeString(td::ToShape(type)), " with b = ", inputs_.batch));
  }

 private:
  static Tensors Operands(Operation& op, const Values& values) {
    Tensors result;
    for (Value v : op.getOperands()) result.push_back(*values.lookup(v));
    return result;
  }

  static void SetResults(Operation& op, Tensors results, Values& values) {
    for (auto [value, tensor] : llvm::zip(op.getResults(), results)) {
      values[value] = std::make_shared<RefTensor>(std::move(tensor));
    }
  }

  absl::Status RunOp(Operation& op, Values& values) {
    if (auto reference = mlir::dyn_cast<td::ReferenceOp>(op)) return RunReference(reference, values);
    auto named = [&](const std::map<std::string, RefTensor>& map, absl::string_view what,
                     llvm::StringRef name) -> absl::Status {
      TD_ASSIGN_OR_RETURN(RefTensor t, Named(map, what, name.str(), op.getResult(0).getType()));
      values[op.getResult(0)] = std::make_shared<RefTensor>(std::move(t));
      return absl::OkStatus();
    };
    if (auto o = mlir::dyn_cast<td::InputOp>(op)) return named(inputs_.inputs, "input", o.getName());
    if (auto o = mlir::dyn_cast<td::ScalarOp>(op)) return named(inputs_.scalars, "scalar", o.getName());
    if (auto o = mlir::dyn_cast<td::ReadOp>(op)) return named(inputs_.variables, "variable", o.getVariable());
    if (auto o = mlir::dyn_cast<td::AssignOp>(op)) {
      results_->variables[o.getVariable().str()] = *values.lookup(o.getValue());
    } else if (auto o = mlir::dyn_cast<td::OutputOp>(op)) {
      results_->outputs[o.getName().str()] = *values.lookup(o.getValue());
    } else if (mlir::isa<td::CheckFiniteOp>(op)) {
      return absl::OkStatus();
    } else {
      return absl::UnimplementedError(
          absl::StrCat("the interpreter cannot evaluate ", op.getName().getStringRef().str()));
    }
    return absl::OkStatus();
  }

  absl::Status RunReference(td::ReferenceOp reference, Values& values) {
    Operation* op = reference.getOperation();
    std::vector<const RefTensor*> operands;
    for (Value v : op->getOperands()) operands.push_back(values.lookup(v).get());
    Tensors results(op->getNumResults());
    td::RefContext context{
        .batch = inputs_.batch, .row_offset = inputs_.row_offset, .run = [this](mlir::Block& block, Tensors arguments) {
          return Run(block, std::move(arguments));
        }};
    TD_RETURN_IF_ERROR(reference.evaluate(operands, context, results));
    for (auto [value, tensor] : llvm::zip(op->getResults(), results)) {
      if (mlir::getElementTypeOrSelf(value.getType()).isBF16()) {
        for (double& v : tensor.values) v = RoundToBFloat16(v);
      }
      TD_RETURN_IF_ERROR(CheckShape(tensor, op->getName().getStringRef().str(), value.getType()));
    }
    SetResults(*op, std::move(results), values);
    return absl::OkStatus();
  }

  const InterpreterInputs& inputs_;
  InterpreterResults* results_;
};

}  // namespace

RefTensor ToRefTensor(const HostTensor& tensor) {
  RefTensor t{.dtype = tensor.dtype(), .shape = tensor.shape(), .values = {}};
  auto copy = [&](const auto* data) { t.values.assign(data, data + tensor.num_elements()); };
  switch (tensor.dtype()) {
    case DType::kFloat32:
      copy(tensor.data<float>());
      break;
    case DType::kFloat64:
      copy(tensor.data<double>());
      break;
    case DType::kInt32:
      copy(tensor.data<int32_t>());
      break;
    case DType::kInt64:
      copy(tensor.data<int64_t>());
      break;
    case DType::kUInt8:
    case DType::kBool:
      copy(tensor.data<uint8_t>());
      break;
    case DType::kBFloat16:  // HostTensors of a program's inputs and variables never have this type
    case DType::kString:    // programs have no strings
    case DType::kInvalid:
      break;
  }
  return t;
}

HostTensor ToHostTensor(const RefTensor& tensor) { return HostTensor::FromVector(tensor.shape, tensor.values); }

absl::StatusOr<InterpreterResults> Interpret(mlir::func::FuncOp function, const InterpreterInputs& inputs) {
  if (function.isExternal()) return absl::InvalidArgumentError("the function has no body");
  InterpreterResults results;
  Interpreter interpreter(inputs, &results);
  Tensors arguments;
  size_t next = 0;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    mlir::Type type = function.getArgument(i).getType();
    absl::StatusOr<RefTensor> value;
    if (mlir::StringAttr name = td::InputOf(function, i)) {
      value = interpreter.Named(inputs.inputs, "input", name.str(), type);
    } else if (mlir::FlatSymbolRefAttr name = td::VariableOf(function, i)) {
      value = interpreter.Named(inputs.variables, "variable", name.getValue().str(), type);
    } else if (mlir::StringAttr name = td::ScalarOf(function, i)) {
      value = interpreter.Named(inputs.scalars, "scalar", name.str(), type);
    } else if (next < inputs.arguments.size()) {
      value = inputs.arguments[next++];
      TD_RETURN_IF_ERROR(interpreter.CheckShape(*value, absl::StrCat("argument ", i), type));
    } else {
      return absl::InvalidArgumentError(absl::StrCat("no value was given for argument ", i));
    }
    if (!value.ok()) return value.status();
    arguments.push_back(*std::move(value));
  }
  TD_ASSIGN_OR_RETURN(Tensors returned, interpreter.Run(function.getBody().front(), std::move(arguments)));
  for (unsigned i = 0; i < returned.size(); ++i) {
    if (mlir::FlatSymbolRefAttr variable = td::UpdateOf(function, i)) {
      results.variables[variable.getValue().str()] = std::move(returned[i]);
    } else if (mlir::StringAttr name = td::OutputOf(function, i)) {
      results.outputs[name.str()] = std::move(returned[i]);
    } else if (!td::IsChecked(function, i)) {
      results.results.push_back(std::move(returned[i]));
    }
  }
  return results;
}

}  // namespace tandem
