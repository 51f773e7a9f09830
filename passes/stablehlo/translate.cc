#include "passes/stablehlo/translate.h"

#include <memory>
#include <string>
#include <utility>

#include "base/llvm_memory.h"
#include "base/status_macros.h"
#include "llvm/Support/raw_ostream.h"
#include "passes/serialize/constant_names.h"
#include "passes/serialize/stored_graph.h"
#include "passes/stablehlo/lowering.h"
#include "passes/stablehlo/translate_step.h"
#include "passes/stablehlo/translators.h"
#include "passes/translation/walk_step.h"

namespace tandem::stablehlo {
namespace {

class StableHloTranslation : public translation::StepTranslation {
 public:
  StableHloTranslation(mlir::MLIRContext* context, const TranslateOptions& options)
      : builder_(context),
        module_(mlir::ModuleOp::create(builder_.getUnknownLoc(), "predict")),
        main_(mlir::func::FuncOp::create(builder_.getUnknownLoc(), "main", builder_.getFunctionType({}, {}))),
        lowering_(main_.addEntryBlock(), options.rows),
        weights_as_constants_(options.weights_as_constants) {
    module_->push_back(main_);
  }

  absl::string_view format() const override { return kFormat; }
  bool HasType(DType dtype) const override { return dtype != DType::kInvalid && dtype != DType::kString; }
  bool Translates(const std::string& op) const override { return Translators().count(op) > 0; }

  void SetInput(mlir::Value argument, const std::string& name) override { AddArgument(argument, "tandem.input", name); }
  void SetVariable(mlir::Value argument, const std::string& name, const HostTensor& value) override {
    if (weights_as_constants_) return SetConstant(argument, name, value);
    AddArgument(argument, "tandem.variable", name);
    weights_.push_back({name, value});
  }
  void SetScalar(mlir::Value argument, const std::string& name, const HostTensor& value) override {
    SetConstant(argument, name, value);
  }
  absl::Status TranslateOp(mlir::Operation* op) override {
    lowering_.emitter().SetLocation(op->getLoc());
    TD_ASSIGN_OR_RETURN(const mlir::Value value, Translators().at(op->getName().getStringRef().str())(op, lowering_));
    lowering_.Set(op->getResult(0), value);
    return absl::OkStatus();
  }

  TranslatedStep Finish(const std::vector<translation::Output>& outputs) {
    llvm::SmallVector<mlir::Value> values;
    for (const translation::Output& output : outputs) values.push_back(lowering_.Get(output.value));
    mlir::Block& body = main_.getBody().front();
    mlir::OpBuilder::atBlockEnd(&body).create<mlir::func::ReturnOp>(builder_.getUnknownLoc(), values);
    main_.setFunctionType(builder_.getFunctionType(body.getArgumentTypes(), mlir::TypeRange(mlir::ValueRange(values))));
    for (auto [i, attribute] : llvm::enumerate(argument_attributes_)) main_.setArgAttrs(i, attribute);
    for (auto [i, output] : llvm::enumerate(outputs)) {
      main_.setResultAttr(i, "tandem.output", builder_.getStringAttr(output.name));
    }
    EraseUnused(body);
    return {std::move(module_), std::move(weights_)};
  }

 private:
  void AddArgument(mlir::Value argument, llvm::StringRef attribute, const std::string& name) {
    const mlir::Location location = mlir::NameLoc::get(builder_.getStringAttr(name));
    lowering_.Set(argument, main_.getBody().front().addArgument(lowering_.TypeFor(argument), location));
    argument_attributes_.push_back({builder_.getNamedAttr(attribute, builder_.getStringAttr(name))});
  }

  void SetConstant(mlir::Value argument, const std::string& name, const HostTensor& value) {
    const llvm::StringRef bytes(static_cast<const char*>(value.raw()), value.byte_size());
    lowering_.emitter().SetLocation(mlir::NameLoc::get(builder_.getStringAttr(name)));
    lowering_.Set(argument, lowering_.emitter().Constant(ConstantOfBytes(lowering_.TypeFor(argument), bytes)));
  }

  // Erases ops that no output depends on. From the last to the first, so that those that only such ops read go too.
  static void EraseUnused(mlir::Block& body) {
    for (mlir::Operation* op = body.getTerminator()->getPrevNode(); op != nullptr;) {
      mlir::Operation* before = op->getPrevNode();
      if (op->use_empty()) op->erase();
      op = before;
    }
  }

  mlir::OpBuilder builder_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  mlir::func::FuncOp main_;
  Lowering lowering_;
  const bool weights_as_constants_;
  std::vector<llvm::SmallVector<mlir::NamedAttribute, 1>> argument_attributes_;
  std::vector<Weight> weights_;
};

}  // namespace

absl::StatusOr<TranslatedStep> TranslateStep(mlir::func::FuncOp step, const translation::ProgramValues& values,
                                             const TranslateOptions& options) {
  StableHloTranslation translation(step.getContext(), options);
  TD_ASSIGN_OR_RETURN(const auto outputs, translation::WalkStep(step, values, translation));
  return translation.Finish(outputs);
}

absl::StatusOr<Model> TranslateProgram(const Executable& executable, const translation::ProgramValues& values,
                                       const TranslateOptions& options) {
  const LlvmMemoryScope scope("translating the graph to StableHLO");
  TD_ASSIGN_OR_RETURN(const std::unique_ptr<StoredGraph> graph, StoredGraph::Read(executable, "input"));
  graph->step().getContext()->allowUnregisteredDialects();
  TD_ASSIGN_OR_RETURN(TranslatedStep translated, TranslateStep(graph->step(), values, options));
  Model model{.weights = std::move(translated.weights)};
  llvm::raw_string_ostream os(model.text);
  translated.module->print(os, mlir::OpPrintingFlags().enableDebugInfo());
  return model;
}

}  // namespace tandem::stablehlo
