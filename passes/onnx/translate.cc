#include "passes/onnx/translate.h"

#include <memory>

#include "base/llvm_memory.h"
#include "base/status_macros.h"
#include "passes/onnx/draft.h"
#include "passes/onnx/lowering.h"
#include "passes/onnx/translate_step.h"
#include "passes/onnx/translators.h"
#include "passes/serialize/stored_graph.h"
#include "passes/translation/walk_step.h"

namespace tandem::onnx {
namespace {

class OnnxTranslation : public translation::StepTranslation {
 public:
  explicit OnnxTranslation(const TranslateOptions& options) : lowering_(draft_, options) {}

  absl::string_view format() const override { return kFormat; }
  bool HasType(DType dtype) const override { return DataTypeOf(dtype) != 0; }
  bool Translates(const std::string& op) const override { return Translators().count(op) > 0; }

  void SetInput(mlir::Value argument, const std::string& name) override {
    lowering_.SetInput(argument, draft_.AddInput(InfoOf(argument, name)));
  }
  void SetVariable(mlir::Value argument, const std::string& name, const HostTensor& value) override {
    lowering_.SetConstant(argument, {name, value});
  }
  void SetScalar(mlir::Value argument, const std::string& name, const HostTensor& value) override {
    lowering_.SetConstant(argument, {name, value});
  }
  absl::Status TranslateOp(mlir::Operation* op) override {
    lowering_.Begin(op);
    return Translators().at(op->getName().getStringRef().str())(op, lowering_);
  }

  absl::StatusOr<Model> Finish(const std::vector<translation::Output>& outputs) {
    std::vector<Draft::Output> drafted;
    for (const auto& [name, value] : outputs) drafted.push_back({InfoOf(value, name), lowering_.Tensor(value)});
    return draft_.Finish("predict", drafted);
  }

 private:
  static ValueInfo InfoOf(mlir::Value value, const std::string& name) {
    return {name, ElementTypeOf(value), ShapeOf(value)};
  }

  Draft draft_;
  Lowering lowering_;
};

}  // namespace

absl::StatusOr<Model> TranslateStep(mlir::func::FuncOp step, const translation::ProgramValues& values,
                                    const TranslateOptions& options) {
  OnnxTranslation translation(options);
  TD_ASSIGN_OR_RETURN(const auto outputs, translation::WalkStep(step, values, translation));
  return translation.Finish(outputs);
}

absl::StatusOr<Model> TranslateProgram(const Executable& executable, const translation::ProgramValues& values,
                                       const TranslateOptions& options) {
  TD_RETURN_IF_ERROR(CheckLlvmMemory("translating the graph to ONNX"));
  const LlvmMemoryScope scope("translating the graph to ONNX");
  TD_ASSIGN_OR_RETURN(const std::unique_ptr<StoredGraph> graph, StoredGraph::Read(executable, "input"));
  return TranslateStep(graph->step(), values, options);
}

}  // namespace tandem::onnx
