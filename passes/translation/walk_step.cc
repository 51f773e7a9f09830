#include "passes/translation/walk_step.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/ir/interfaces.h"
#include "graph/ir/signature.h"
#include "passes/translation/refusals.h"
#include "passes/translation/values.h"

namespace tandem::translation {
namespace {

class Walk {
 public:
  Walk(mlir::func::FuncOp step, const ProgramValues& values, StepTranslation& translation)
      : step_(step), values_(values), translation_(translation) {}

  absl::StatusOr<std::vector<Output>> Run() {
    bool has_input = false;
    for (unsigned i = 0; i < step_.getNumArguments(); ++i) {
      has_input |= td::InputOf(step_, i) != nullptr;
      TD_RETURN_IF_ERROR(SetArgument(i));
    }
    if (!has_input) {
      return absl::FailedPreconditionError("the model has no inputs, so there is nothing to predict from");
    }
    TakeApart();
    mlir::Block& body = step_.getBody().front();
    for (mlir::Operation& op : body.without_terminator()) TD_RETURN_IF_ERROR(TranslateOp(&op));
    std::vector<Output> outputs;
    for (const std::string& name : values_.outputs) {
      TD_ASSIGN_OR_RETURN(const Output output, OutputCalled(name));
      outputs.push_back(output);
    }
    return outputs;
  }

 private:
  absl::Status SetArgument(unsigned i) {
    const mlir::Value argument = step_.getArgument(i);
    if (const mlir::StringAttr input = td::InputOf(step_, i)) {
      TD_RETURN_IF_ERROR(CheckType("input", input.str(), argument));
      translation_.SetInput(argument, input.str());
      return absl::OkStatus();
    }
    if (const mlir::FlatSymbolRefAttr variable = td::VariableOf(step_, i)) {
      const std::string name = variable.getValue().str();
      TD_ASSIGN_OR_RETURN(const HostTensor value, values_.variable(name));
      if (value.dtype() != ElementTypeOf(argument) || value.shape() != ShapeOf(argument)) {
        return absl::DataLossError(absl::StrCat("the variable ", name, " is ", Name(value.dtype()),
                                                ShapeString(value.shape()), ", and the program needs ",
                                                Name(ElementTypeOf(argument)), ShapeString(ShapeOf(argument))));
      }
      translation_.SetVariable(argument, name, value);
      return absl::OkStatus();
    }
    return SetScalar(argument, td::ScalarOf(step_, i).str());
  }

  absl::Status SetScalar(mlir::Value argument, const std::string& name) {
    const auto value = values_.scalars.find(name);
    if (value != values_.scalars.end()) {
      translation_.SetScalar(argument, name, NumberOf(value->second, ElementTypeOf(argument)));
      return absl::OkStatus();
    }
    if (argument.use_empty()) return absl::OkStatus();
    mlir::Operation* reader = *argument.user_begin();
    if (WhyNot(reader->getName().getStringRef().str()) != nullptr) {
      // The reader's translation will fail with a better error than one about the scalar. Until then the scalar is 0.
      translation_.SetScalar(argument, name, NumberOf(0, ElementTypeOf(argument)));
      return absl::OkStatus();
    }
    return NoForm(reader, absl::StrCat("it reads the step scalar \"", name,
                                       "\", which the runtime sets and an exported model does not have; leave what is "
                                       "computed from it out of the predictions"));
  }

  // Returns why the format does not take ops of this name; null if it does, or if no reason is known.
  const char* WhyNot(const std::string& op) const {
    return translation_.Translates(op) ? nullptr : WhyNotTranslated(op);
  }

  absl::Status NoForm(mlir::Operation* op, absl::string_view problem) const {
    return HasNoForm(op, translation_.format(), problem);
  }

  // Replaces composite ops that have no translator by the simpler ops that they are made of.
  void TakeApart() {
    std::vector<td::DecomposeOp> composites;
    step_.walk([&](td::DecomposeOp op) {
      const std::string name = op->getName().getStringRef().str();
      if (!translation_.Translates(name) && WhyNotTranslated(name) == nullptr) composites.push_back(op);
    });
    for (td::DecomposeOp op : composites) {
      mlir::OpBuilder builder(op);
      llvm::SmallVector<mlir::Value> results;
      op.decompose(builder, results);
      op->replaceAllUsesWith(results);
      op->erase();
    }
  }

  absl::Status TranslateOp(mlir::Operation* op) {
    const std::string name = op->getName().getStringRef().str();
    if (!translation_.Translates(name)) {
      const char* reason = WhyNotTranslated(name);
      return NoForm(op, reason != nullptr ? reason : "there is no translation; leave it out of the predictions");
    }
    for (mlir::Value result : op->getResults()) {
      if (translation_.HasType(ElementTypeOf(result))) continue;
      return NoForm(op, absl::StrCat("its result has an element type that ", translation_.format(),
                                     " models are not exported with; Cast it to float32"));
    }
    TD_RETURN_IF_ERROR(CheckRowsAreApart(op, translation_.format()));
    return translation_.TranslateOp(op);
  }

  absl::StatusOr<Output> OutputCalled(const std::string& name) {
    mlir::Operation* terminator = step_.getBody().front().getTerminator();
    for (unsigned i = 0; i < step_.getNumResults(); ++i) {
      const mlir::StringAttr output = td::OutputOf(step_, i);
      if (!output || output.getValue() != name) continue;
      const mlir::Value value = terminator->getOperand(i);
      TD_RETURN_IF_ERROR(CheckType("prediction", name, value));
      return Output{name, value};
    }
    return absl::DataLossError(absl::StrCat("the program has no output \"", name, "\""));
  }

  absl::Status CheckType(const char* what, const std::string& name, mlir::Value value) const {
    const DType dtype = ElementTypeOf(value);
    if (translation_.HasType(dtype)) return absl::OkStatus();
    return absl::UnimplementedError(absl::StrCat("the ", what, " \"", name, "\" is ", Name(dtype), ", which ",
                                                 translation_.format(), " models are not exported with; Cast it"));
  }

  mlir::func::FuncOp step_;
  const ProgramValues& values_;
  StepTranslation& translation_;
};

}  // namespace

absl::StatusOr<std::vector<Output>> WalkStep(mlir::func::FuncOp step, const ProgramValues& values,
                                             StepTranslation& translation) {
  return Walk(step, values, translation).Run();
}

}  // namespace tandem::translation
