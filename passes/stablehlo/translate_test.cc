// What tandem-opt does not show: the table of ops, weights, constants. The tests in test/ show what each op becomes.
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "graph/ir/dialect.h"
#include "graph/ir/interfaces.h"
#include "gtest/gtest.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "passes/stablehlo/translate_step.h"
#include "passes/stablehlo/translators.h"
#include "passes/translation/refusals.h"

namespace tandem {
namespace {

using stablehlo::TranslatedStep;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class StableHloTranslationTest : public ::testing::Test {
 protected:
  StableHloTranslationTest() {
    context_.loadDialect<mlir::func::FuncDialect, td::TdDialect>();
    context_.allowUnregisteredDialects();
  }

  absl::StatusOr<TranslatedStep> Translate(const std::string& step, const translation::ProgramValues& values,
                                           const stablehlo::TranslateOptions& options = {}) {
    module_ = mlir::parseSourceString<mlir::ModuleOp>(step, &context_);
    EXPECT_TRUE(module_) << step;
    if (!module_) return absl::InternalError("the text is wrong");
    return stablehlo::TranslateStep(module_->lookupSymbol<mlir::func::FuncOp>("step"), values, options);
  }

  static std::string Text(TranslatedStep& step) {
    std::string text;
    llvm::raw_string_ostream os(text);
    step.module->print(os);
    return text;
  }

  static translation::ProgramValues Values() {
    translation::ProgramValues values{.outputs = {"y"}};
    values.variable = [](const std::string&) { return HostTensor::FromVector<float>({2}, {1.5f, -2}); };
    return values;
  }

  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

TEST_F(StableHloTranslationTest, EveryOpHasATranslatorOrAReason) {
  for (mlir::RegisteredOperationName op : context_.getRegisteredOperations()) {
    const std::string name = op.getStringRef().str();
    if (op.getDialectNamespace() != "td") continue;
    EXPECT_TRUE(stablehlo::Translators().count(name) > 0 || translation::WhyNotTranslated(name) != nullptr ||
                op.hasInterface<td::DecomposeOp>())
        << name << " has neither; see docs/developers/add_a_library_op.md";
  }
}

constexpr char kScaled[] = R"(
    func.func @step(%x: tensor<?x2xf32> {td.input = "x"}, %w: tensor<2xf32> {td.variable = @"scale/w"})
        -> (tensor<?x2xf32> {td.output = "y"}) {
      %0 = td.broadcast %w dims [1] : tensor<2xf32> -> tensor<?x2xf32>
      %1 = td.mul %x, %0 : tensor<?x2xf32>
      return %1 : tensor<?x2xf32>
    })";

TEST_F(StableHloTranslationTest, WeightsAreArgumentsInOrder) {
  auto step = Translate(kScaled, Values(), {.rows = 4});
  ASSERT_TRUE(step.ok()) << step.status();
  ASSERT_EQ(step->weights.size(), 1u);
  EXPECT_EQ(step->weights[0].name, "scale/w");
  EXPECT_EQ(step->weights[0].value.values<float>()[1], -2);
  EXPECT_THAT(Text(*step), HasSubstr("%arg1: tensor<2xf32> {tandem.variable = \"scale/w\"}"));
  EXPECT_TRUE(mlir::succeeded(step->module->verify()));
}

TEST_F(StableHloTranslationTest, WeightsMayBeConstants) {
  auto step = Translate(kScaled, Values(), {.rows = 4, .weights_as_constants = true});
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_TRUE(step->weights.empty());
  EXPECT_THAT(Text(*step), AllOf(HasSubstr("value = dense<[1.500000e+00, -2.000000e+00]> : tensor<2xf32>"),
                                 Not(HasSubstr("%arg1"))));
}

TEST_F(StableHloTranslationTest, KnownScalarsAreConstants) {
  const std::string step = R"(
      func.func @step(%x: tensor<?xf32> {td.input = "x"}, %n: tensor<f32> {td.scalar = "temperature"})
          -> (tensor<?xf32> {td.output = "y"}) {
        %0 = td.broadcast %n dims [] : tensor<f32> -> tensor<?xf32> loc("mean/Div"("model.cc":5:3))
        %1 = td.div %x, %0 : tensor<?xf32>
        return %1 : tensor<?xf32>
      })";
  translation::ProgramValues values = Values();
  EXPECT_THAT(Translate(step, values).status().message(),
              AllOf(HasSubstr("model.cc:5: \"mean/Div\": td.broadcast has no form in StableHLO"),
                    HasSubstr("the step scalar \"temperature\"")));
  values.scalars["temperature"] = 0.5;
  auto translated = Translate(step, values);
  ASSERT_TRUE(translated.ok()) << translated.status();
  EXPECT_THAT(Text(*translated), HasSubstr("dense<5.000000e-01> : tensor<f32>"));
}

TEST_F(StableHloTranslationTest, AWeightOfAnotherShapeIsDamage) {
  translation::ProgramValues values = Values();
  values.variable = [](const std::string&) { return HostTensor::Zeros(DType::kFloat32, {3}); };
  const absl::Status status = Translate(kScaled, values).status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("the variable scale/w is float32[3], and the program needs float32[2]"));
}

}  // namespace
}  // namespace tandem
