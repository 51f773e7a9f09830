// Exported models as StableHLO. What such modules compute is compared in tests/stablehlo.
#include "estimator/stablehlo/export_stablehlo.h"

#include <string>

#include "base/env.h"
#include "base/exit_code.h"
#include "estimator/checkpoint/safetensors.h"
#include "estimator/translation/test_exports.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using test::ConstantModel;
using test::ContentOf;
using test::RandomModel;
using test::TrainedAndExported;
using test::WideLineModel;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ExportStableHloTest, WeightsAreArgumentsWithAFileOfTheirOwn) {
  const std::string dir = TrainedAndExported(WideLineModel);
  const absl::Status status = ExportStableHlo(dir + "/exports", dir + "/out/line.mlir", {.rows = 8});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(*Env::Default()->ListDir(dir + "/out"), ElementsAre("line.mlir", "line.mlir.safetensors"));
  EXPECT_THAT(ContentOf(dir + "/out/line.mlir"),
              AllOf(HasSubstr("func.func @main(%arg0: tensor<8x2xf32> {tandem.input = \"x\"}"),
                    HasSubstr("%arg1: tensor<2x1000xf32> {tandem.variable = \"dense/kernel\"}"),
                    HasSubstr("-> (tensor<8x1xf32> {tandem.output = \"line\"})"), HasSubstr("test_exports.h")));
  const auto weights = SafetensorsReader::Open(Env::Default(), dir + "/out/line.mlir.safetensors");
  ASSERT_TRUE(weights.ok()) << weights.status();
  EXPECT_EQ((*weights)->metadata().at("arguments"),
            R"(["dense/kernel", "dense/bias", "dense_1/kernel", "dense_1/bias"])");
  EXPECT_EQ((*weights)->Read("dense/kernel")->shape(), (Shape{2, 1000}));
}

TEST(ExportStableHloTest, WeightsMayBeConstants) {
  const std::string dir = TrainedAndExported(WideLineModel);
  const absl::Status status = ExportStableHlo(dir + "/exports", dir + "/out/line.mlir", {.constants = true});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(*Env::Default()->ListDir(dir + "/out"), ElementsAre("line.mlir"));
  const std::string text = ContentOf(dir + "/out/line.mlir");
  EXPECT_THAT(
      text, AllOf(HasSubstr("@main(%arg0: tensor<1x2xf32> {tandem.input = \"x\"}"), Not(HasSubstr("tandem.variable"))));
  EXPECT_GT(text.size(), 2u * 4 * 4000);  // two characters for each byte of the kernels and the bias
}

// Also where the program computes in bfloat16, and where its text only names a constant.
TEST(ExportStableHloTest, NumbersHaveTheTypesOfTheModelFn) {
  const std::string dir = TrainedAndExported(ConstantModel, Precision::kMixedBfloat16);
  const absl::Status status = ExportStableHlo(dir + "/exports", dir + "/out/mixed.mlir");
  ASSERT_TRUE(status.ok()) << status;
  const std::string text = ContentOf(dir + "/out/mixed.mlir");
  EXPECT_THAT(text, Not(HasSubstr("bf16")));
  EXPECT_GT(text.size(), 2u * 4 * 6000);
}

TEST(ExportStableHloTest, AnOpWithoutAFormIsNamedWithItsLine) {
  const std::string dir = TrainedAndExported(RandomModel);
  const absl::Status status = ExportStableHlo(dir + "/exports", dir + "/out/random.mlir");
  EXPECT_TRUE(absl::IsUnimplemented(status)) << status;
  EXPECT_EQ(ExitCodeFor(status), kExitUsage);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("test_exports.h:"), HasSubstr("dropout/"),
                                      HasSubstr("has no form in StableHLO"), HasSubstr("Mode::kTrain")));
  EXPECT_THAT(*Env::Default()->ListDir(dir + "/out"), ElementsAre());
}

TEST(ExportStableHloTest, SaysWhatIsWrong) {
  const std::string dir = test::ModelDir();
  EXPECT_TRUE(absl::IsInvalidArgument(ExportStableHlo("", dir + "/m.mlir")));
  EXPECT_TRUE(absl::IsNotFound(ExportStableHlo(dir, dir + "/m.mlir")));
  EXPECT_THAT(ExportStableHlo(dir, dir + "/absent/m.mlir").message(), HasSubstr("there is no folder"));
  EXPECT_THAT(ExportStableHlo(dir, dir + "/m.mlir", {.rows = 0}).message(), HasSubstr("`rows` is 0; it may be from 1"));
}

}  // namespace
}  // namespace tandem
