#include "passes/onnx/translate.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/llvm_memory.h"
#include "base/status_macros.h"
#include "graph/ir/interfaces.h"
#include "graph/ir/signature.h"
#include "passes/base/pass_util.h"
#include "passes/onnx/constants.h"
#include "passes/onnx/draft.h"
#include "passes/onnx/lowering.h"
#include "passes/onnx/translate_step.h"
#include "passes/onnx/translators.h"
#include "passes/serialize/stored_graph.h"

namespace tandem::onnx {
namespace {

class StepTranslator {
 public:
  StepTranslator(mlir::func::FuncOp step, const ProgramValues& values, const TranslateOptions& options)
      : step_(step), values_(values), lowering_(draft_, options) {}

  absl::StatusOr<Model> Translate() {
    for (unsigned i = 0; i < step_.getNumArguments(); ++i) TD_RETURN_IF_ERROR(SetArgument(i));
    if (draft_.inputs().empty()) {
      return absl::FailedPreconditionError("the model has no inputs, so there is nothing to predict from");
    }
    TakeApart();
    mlir::Block& body = step_.getBody().front();
    for (mlir::Operation& op : body.without_terminator()) TD_RETURN_IF_ERROR(TranslateOp(&op));
    std::vector<Draft::Output> outputs;
    for (const std::string& name : values_.outputs) {
      TD_ASSIGN_OR_RETURN(const Draft::Output output, OutputCalled(name));
      outputs.push_back(output);
    }
    return draft_.Finish("predict", outputs);
  }

 private:
  absl::Status SetArgument(unsigned i) {
    const mlir::Value argument = step_.getArgument(i);
    if (const mlir::StringAttr input = td::InputOf(step_, i)) {
      const ValueInfo info = {input.str(), ElementTypeOf(argument), ShapeOf(argument)};
      TD_RETURN_IF_ERROR(CheckType("input", info));
      lowering_.SetInput(argument, draft_.AddInput(info));
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
      lowering_.SetConstant(argument, {name, value});
      return absl::OkStatus();
    }
    return SetScalar(argument, td::ScalarOf(step_, i).str());
  }

  absl::Status SetScalar(mlir::Value argument, const std::string& name) {
    const auto value = values_.scalars.find(name);
    if (value != values_.scalars.end()) {
      lowering_.SetConstant(argument, {name, NumberOf(value->second, ElementTypeOf(argument))});
      return absl::OkStatus();
    }
    if (argument.use_empty()) return absl::OkStatus();
    mlir::Operation* reader = *argument.user_begin();
    if (WhyNoForm(reader->getName().getStringRef().str()) != nullptr) {
      // The reader's translation will fail with a better error than one about the scalar. Until then the scalar is 0.
      lowering_.SetConstant(argument, {name, NumberOf(0, ElementTypeOf(argument))});
      return absl::OkStatus();
    }
    return HasNoForm(reader, absl::StrCat("it reads the step scalar \"", name,
                                          "\", which the runtime sets and an ONNX model does not have; leave what is "
                                          "computed from it out of the predictions"));
  }

  // Replaces composite ops that have no translator by the simpler ops that they are made of.
  void TakeApart() {
    std::vector<td::DecomposeOp> composites;
    step_.walk([&](td::DecomposeOp op) {
      const std::string name = op->getName().getStringRef().str();
      if (Translators().count(name) == 0 && WhyNoForm(name) == nullptr) composites.push_back(op);
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
    const auto translator = Translators().find(name);
    if (translator == Translators().end()) {
      const char* reason = WhyNoForm(name);
      return HasNoForm(op, reason != nullptr ? reason : "there is no translation; leave it out of the predictions");
    }
    for (mlir::Value result : op->getResults()) {
      if (DataTypeOf(ElementTypeOf(result)) != 0) continue;
      return HasNoForm(op, "its result has an element type that ONNX models are not exported with; Cast it to float32");
    }
    lowering_.Begin(op);
    return translator->second(op, lowering_);
  }

  absl::StatusOr<Draft::Output> OutputCalled(const std::string& name) {
    mlir::Operation* terminator = step_.getBody().front().getTerminator();
    for (unsigned i = 0; i < step_.getNumResults(); ++i) {
      const mlir::StringAttr output = td::OutputOf(step_, i);
      if (!output || output.getValue() != name) continue;
      const mlir::Value value = terminator->getOperand(i);
      const ValueInfo info = {name, ElementTypeOf(value), ShapeOf(value)};
      TD_RETURN_IF_ERROR(CheckType("prediction", info));
      return Draft::Output{info, lowering_.Tensor(value)};
    }
    return absl::DataLossError(absl::StrCat("the program has no output \"", name, "\""));
  }

  static absl::Status CheckType(const char* what, const ValueInfo& info) {
    if (DataTypeOf(info.dtype) != 0) return absl::OkStatus();
    return absl::UnimplementedError(absl::StrCat("the ", what, " \"", info.name, "\" is ", Name(info.dtype),
                                                 ", which ONNX models are not exported with; Cast it"));
  }

  mlir::func::FuncOp step_;
  const ProgramValues& values_;
  Draft draft_;
  Lowering lowering_;
};

}  // namespace

absl::StatusOr<Model> TranslateStep(mlir::func::FuncOp step, const ProgramValues& values,
                                    const TranslateOptions& options) {
  return StepTranslator(step, values, options).Translate();
}

absl::StatusOr<Model> TranslateProgram(const Executable& executable, const ProgramValues& values,
                                       const TranslateOptions& options) {
  TD_RETURN_IF_ERROR(CheckLlvmMemory("translating the graph to ONNX"));
  const LlvmMemoryScope scope("translating the graph to ONNX");
  TD_ASSIGN_OR_RETURN(const std::unique_ptr<StoredGraph> graph, StoredGraph::Read(executable, "input"));
  return TranslateStep(graph->step(), values, options);
}

}  // namespace tandem::onnx
