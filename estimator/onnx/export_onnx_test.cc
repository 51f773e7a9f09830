// Exported models as ONNX files. What such files compute is compared in tests/onnx.
#include "estimator/onnx/export_onnx.h"

#include <string>

#include "base/env.h"
#include "base/exit_code.h"
#include "estimator/serving/signature.h"
#include "estimator/translation/test_exports.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using test::ConstantModel;
using test::ContentOf;
using test::RandomModel;
using test::TrainedAndExported;
using test::WideLineModel;

TEST(ExportOnnxTest, WritesTheNewestExport) {
  const std::string dir = TrainedAndExported(WideLineModel);
  const absl::Status status = ExportOnnx(dir + "/exports", dir + "/out/line.onnx");
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(ContentOf(dir + "/out/line.onnx"),
              AllOf(HasSubstr("tandem"), HasSubstr("dense/kernel"), HasSubstr("Gemm"), HasSubstr("line")));
  EXPECT_THAT(*Env::Default()->ListDir(dir + "/out"), ElementsAre("line.onnx"));
}

TEST(ExportOnnxTest, WritesWeightsToASecondFile) {
  const std::string dir = TrainedAndExported(WideLineModel);
  const absl::Status status = ExportOnnx(dir + "/exports", dir + "/out/line.onnx", {.external_data = true});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(*Env::Default()->ListDir(dir + "/out"), ElementsAre("line.onnx", "line.onnx.data"));
  EXPECT_LT(ContentOf(dir + "/out/line.onnx").size(), 2000u);
  // A kernel of 2 x 1000 numbers, then a bias and another kernel of 1000, each from the beginning of a page on.
  EXPECT_EQ(ContentOf(dir + "/out/line.onnx.data").size(), 8192u + 4096u + 4000u);
}

// Also where the program computes in bfloat16.
TEST(ExportOnnxTest, NumbersHaveTheTypesOfTheModelFn) {
  const std::string dir = TrainedAndExported(ConstantModel, Precision::kMixedBfloat16);
  const absl::Status status = ExportOnnx(dir + "/exports", dir + "/out/mixed.onnx");
  ASSERT_TRUE(status.ok()) << status;
  const std::string model = ContentOf(dir + "/out/mixed.onnx");
  // The constant and the kernel, 6000 and 3000 numbers of float32.
  EXPECT_GT(model.size(), 36000u);
  EXPECT_LT(model.size(), 38000u);
  EXPECT_THAT(model, Not(HasSubstr("Cast")));
}

TEST(ExportOnnxTest, AnOpWithoutAFormIsNamedWithItsLine) {
  const std::string dir = TrainedAndExported(RandomModel);
  const absl::Status status = ExportOnnx(dir + "/exports", dir + "/out/random.onnx");
  EXPECT_TRUE(absl::IsUnimplemented(status)) << status;
  EXPECT_EQ(ExitCodeFor(status), kExitUsage);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("test_exports.h:"), HasSubstr("dropout/"),
                                      HasSubstr("has no form in ONNX"), HasSubstr("Mode::kTrain")));
  EXPECT_THAT(*Env::Default()->ListDir(dir + "/out"), ElementsAre());
}

TEST(ExportOnnxTest, SaysWhatIsMissing) {
  const std::string dir = test::ModelDir();
  EXPECT_TRUE(absl::IsInvalidArgument(ExportOnnx("", dir + "/m.onnx")));
  EXPECT_TRUE(absl::IsNotFound(ExportOnnx(dir, dir + "/m.onnx")));
  const absl::Status status = ExportOnnx(dir, dir + "/absent/m.onnx");
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(status.message(), AllOf(HasSubstr("there is no folder"), Not(HasSubstr("signature"))));
}

TEST(ExportOnnxTest, DamageIsFoundBeforeAnythingIsWritten) {
  const std::string dir = TrainedAndExported(WideLineModel);
  const std::string newest = dir + "/exports/" + Env::Default()->ListDir(dir + "/exports")->back();
  std::string weights = ContentOf(newest + "/" + kWeightsName);
  weights.back() ^= 1;
  ASSERT_TRUE(Env::Default()->WriteFileAtomically(newest + "/" + kWeightsName, weights).ok());
  const absl::Status status = ExportOnnx(newest, dir + "/out/line.onnx");
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(*Env::Default()->ListDir(dir + "/out"), ElementsAre());
}

}  // namespace
}  // namespace tandem
