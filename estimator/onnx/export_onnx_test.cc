// Exported models as ONNX files. What such files compute is compared in tests/onnx.
#include "estimator/onnx/export_onnx.h"

#include <string>

#include "base/env.h"
#include "base/exit_code.h"
#include "estimator/serving/signature.h"
#include "estimator/test_models.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

EstimatorSpec Model(const Tensor& prediction, const Tensor& labels, Mode mode) {
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"line", prediction}});
  const Tensor loss = losses::MeanSquaredError(labels, prediction);
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
  return EstimatorSpec::Train(loss, optimizers::GradientDescent({.learning_rate = 0.1}).Minimize(loss));
}

EstimatorSpec LineModel(const Features& features, const Tensor& labels, Mode mode, const Params&) {
  const Tensor hidden = layers::Dense(features["x"], {.units = 1000, .activation = Relu});
  return Model(layers::Dense(hidden, {.units = 1}), labels, mode);
}

EstimatorSpec RandomModel(const Features& features, const Tensor& labels, Mode mode, const Params&) {
  const Tensor x = layers::Dropout(features["x"], {.rate = 0.5, .training = true});
  return Model(layers::Dense(x, {.units = 1}), labels, mode);
}

// With a constant that the program's text names only.
EstimatorSpec ConstantModel(const Features& features, const Tensor& labels, Mode mode, const Params&) {
  constexpr int64_t kColumns = 3000;
  HostTensor numbers(DType::kFloat32, {2, kColumns});
  for (int64_t i = 0; i < 2 * kColumns; ++i) numbers.data<float>()[i] = static_cast<float>(i % 7) / 1000;
  const Tensor projected = MatMul(features["x"], features.graph()->Constant(numbers));
  return Model(layers::Dense(projected, {.units = 1}), labels, mode);
}

class ExportOnnxTest : public ::testing::Test {
 protected:
  // Trains and exports the model; returns the folder of the exports.
  std::string Exported(ModelFn model_fn, Precision precision = Precision::kFloat32) {
    const std::string dir = test::ModelDir();
    RunConfig config = test::Config(dir);
    config.precision = precision;
    Estimator estimator(model_fn, config);
    absl::Status status = estimator.Train(test::LineInput(), {.steps = 2});
    EXPECT_TRUE(status.ok()) << status;
    const auto path = estimator.ExportModel(dir + "/exports", {.features = {{"x", DType::kFloat32, {kBatch, 2}}}});
    EXPECT_TRUE(path.ok()) << path.status();
    EXPECT_TRUE(Env::Default()->CreateDirs(dir + "/onnx").ok());
    return dir;
  }

  static std::string Read(const std::string& path) { return Env::Default()->ReadFile(path).value_or(""); }
};

TEST_F(ExportOnnxTest, WritesTheNewestExport) {
  const std::string dir = Exported(LineModel);
  const absl::Status status = ExportOnnx(dir + "/exports", dir + "/onnx/line.onnx");
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(Read(dir + "/onnx/line.onnx"),
              AllOf(HasSubstr("tandem"), HasSubstr("dense/kernel"), HasSubstr("Gemm"), HasSubstr("line")));
  EXPECT_THAT(*Env::Default()->ListDir(dir + "/onnx"), ElementsAre("line.onnx"));
}

TEST_F(ExportOnnxTest, WritesWeightsToASecondFile) {
  const std::string dir = Exported(LineModel);
  const absl::Status status = ExportOnnx(dir + "/exports", dir + "/onnx/line.onnx", {.external_data = true});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(*Env::Default()->ListDir(dir + "/onnx"), ElementsAre("line.onnx", "line.onnx.data"));
  EXPECT_LT(Read(dir + "/onnx/line.onnx").size(), 2000u);
  // A kernel of 2 x 1000 numbers, then a bias and another kernel of 1000, each from the beginning of a page on.
  EXPECT_EQ(Read(dir + "/onnx/line.onnx.data").size(), 8192u + 4096u + 4000u);
}

// Also where the program computes in bfloat16.
TEST_F(ExportOnnxTest, NumbersHaveTheTypesOfTheModelFn) {
  const std::string dir = Exported(ConstantModel, Precision::kMixedBfloat16);
  const absl::Status status = ExportOnnx(dir + "/exports", dir + "/onnx/mixed.onnx");
  ASSERT_TRUE(status.ok()) << status;
  const std::string model = Read(dir + "/onnx/mixed.onnx");
  // The constant and the kernel, 6000 and 3000 numbers of float32.
  EXPECT_GT(model.size(), 36000u);
  EXPECT_LT(model.size(), 38000u);
  EXPECT_THAT(model, Not(HasSubstr("Cast")));
}

TEST_F(ExportOnnxTest, AnOpWithoutAFormIsNamedWithItsLine) {
  const std::string dir = Exported(RandomModel);
  const absl::Status status = ExportOnnx(dir + "/exports", dir + "/onnx/random.onnx");
  EXPECT_TRUE(absl::IsUnimplemented(status)) << status;
  EXPECT_EQ(ExitCodeFor(status), kExitUsage);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("export_onnx_test.cc:"), HasSubstr("dropout/"),
                                      HasSubstr("has no form in ONNX"), HasSubstr("Mode::kTrain")));
  EXPECT_THAT(*Env::Default()->ListDir(dir + "/onnx"), ElementsAre());
}

TEST_F(ExportOnnxTest, SaysWhatIsMissing) {
  const std::string dir = test::ModelDir();
  EXPECT_TRUE(absl::IsInvalidArgument(ExportOnnx("", dir + "/m.onnx")));
  EXPECT_TRUE(absl::IsNotFound(ExportOnnx(dir, dir + "/m.onnx")));
  const absl::Status status = ExportOnnx(dir, dir + "/absent/m.onnx");
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(status.message(), AllOf(HasSubstr("there is no folder"), Not(HasSubstr("signature"))));
}

TEST_F(ExportOnnxTest, DamageIsFoundBeforeAnythingIsWritten) {
  const std::string dir = Exported(LineModel);
  const std::string newest = dir + "/exports/" + Env::Default()->ListDir(dir + "/exports")->back();
  std::string weights = Read(newest + "/" + kWeightsName);
  weights.back() ^= 1;
  ASSERT_TRUE(Env::Default()->WriteFileAtomically(newest + "/" + kWeightsName, weights).ok());
  const absl::Status status = ExportOnnx(newest, dir + "/onnx/line.onnx");
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(*Env::Default()->ListDir(dir + "/onnx"), ElementsAre());
}

}  // namespace
}  // namespace tandem
