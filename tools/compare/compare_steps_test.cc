// Two makings of a step with a planted difference: where they part is named.
#include "tools/compare/compare_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/exit_code.h"
#include "data/files/write_npz.h"
#include "estimator/replay/replay_request.h"
#include "estimator/replay/step_file.h"
#include "estimator/test_models.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Written(const std::string& name, const std::string& bytes) {
  std::string path = JoinPath(::testing::TempDir(), absl::StrCat("compare_steps_", name, ".npz"));
  EXPECT_EQ(Env::Default()->WriteFileAtomically(path, bytes), absl::OkStatus());
  return path;
}

HostTensor Floats(std::vector<float> values) {
  const auto size = static_cast<int64_t>(values.size());
  return HostTensor::FromVector<float>({size}, std::move(values));
}

StepFile File() {
  return {
      .step = 7,
      .run = "runs/a",
      .order = {{"w", "float32 [2], trainable, at model.cc:3"},
                {"z/MatMul", "matmul of x, w: float32 [2], at model.cc:4"},
                {"a/Relu", "relu of z/MatMul: float32 [2], at model.cc:5"}},
      .arrays = {
          {"w", Floats({1, 2})}, {"z/MatMul", Floats({3, 4})}, {"a/Relu", Floats({5, 6})}, {"w@new", Floats({7, 8})}}};
}

std::string Saved(const std::string& name, const StepFile& file) { return Written(name, *SerializeStepFile(file)); }

TEST(CompareSteps, EqualFilesAreEqual) {
  const auto compared = CompareSteps(Saved("a", File()), Saved("b", File()));
  ASSERT_TRUE(compared.ok()) << compared.status();
  EXPECT_TRUE(compared->equal);
  EXPECT_THAT(compared->text, HasSubstr(", step 7 of runs/a\n"));
  EXPECT_THAT(compared->text, HasSubstr("4 of 4 tensors have equal bits.\n"));
}

// By their names "a/Relu" would be the first.
TEST(CompareSteps, TheFirstInTheOrderOfTheModelIsNamed) {
  StepFile b = File();
  b.arrays["z/MatMul"] = Floats({3, 4.5});
  b.arrays["a/Relu"] = Floats({5.5, 6.5});
  b.arrays["w@new"] = Floats({7, 9});
  const auto compared = CompareSteps(Saved("a", File()), Saved("b", b));
  ASSERT_TRUE(compared.ok()) << compared.status();
  EXPECT_FALSE(compared->equal);
  EXPECT_THAT(compared->text,
              HasSubstr("z/MatMul is the first tensor that differs, in the order of the model, behind 1 equal ones:\n"
                        "  matmul of x, w: float32 [2], at model.cc:4\n"
                        "  1 of 2 elements differ, by at most 0.5, at [1]: 4 and 4.5\n"
                        "Behind it differ:\n"
                        "  a/Relu: 2 of 2 elements differ, by at most 0.5, at [0]: 5 and 5.5\n"
                        "  w@new: 1 of 2 elements differ, by at most 1, at [1]: 8 and 9\n"
                        "1 of 4 tensors have equal bits.\n"));
}

TEST(CompareSteps, WhatOneFileHasAloneAndOtherShapesAreNamed) {
  StepFile b = File();
  b.arrays.erase("w");
  b.arrays["more"] = Floats({1});
  b.arrays["a/Relu"] = Floats({5, 6, 7});
  const auto compared = CompareSteps(Saved("a", File()), Saved("b", b));
  ASSERT_TRUE(compared.ok()) << compared.status();
  EXPECT_THAT(compared->text, HasSubstr("1 tensors are in A only: w\n1 tensors are in B only: more\n"));
  EXPECT_THAT(compared->text, HasSubstr("  float32 [2] in A and float32 [3] in B\n"));
}

TEST(CompareSteps, FilesOfNumPyAreComparedByTheirNames) {
  const auto compared = CompareSteps(Written("a", *SerializeNpz({{"x", Floats({1})}, {"y", Floats({1})}})),
                                     Written("b", *SerializeNpz({{"x", Floats({1})}, {"y", Floats({2})}})));
  ASSERT_TRUE(compared.ok()) << compared.status();
  EXPECT_THAT(compared->text,
              HasSubstr("y is the first tensor that differs, by its name: nothing says in which order"));
}

TEST(CompareSteps, TwoStepsAreAnError) {
  StepFile b = File();
  b.step = 8;
  const absl::Status status = CompareSteps(Saved("a", File()), Saved("b", b)).status();
  EXPECT_EQ(ExitCodeFor(status), kExitUsage);
  EXPECT_THAT(std::string(status.message()), HasSubstr("of step 8; make the same step of both runs"));
}

TEST(CompareSteps, ADamagedDescriptionIsAnError) {
  for (const char* text : {"", "{", "[]", R"({"format": "tandem-step-1", "step": -1, "run": "r", "order": []})",
                           R"({"format": "tandem-step-1", "step": 1, "run": "r", "order": [["a"]]})"}) {
    const std::string bytes = text;
    HostTensor entry(DType::kUInt8, {static_cast<int64_t>(bytes.size())});
    std::copy(bytes.begin(), bytes.end(), static_cast<char*>(entry.raw()));
    const absl::Status status = ReadStepFile(Written("damaged", *SerializeNpz({{kStepEntry, entry}}))).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr("the array \"@step\" does not describe a step"));
  }
}

TEST(OrderOfModel, OperandsComeFirst) {
  const std::vector<std::pair<std::string, std::string>> parts = {
      {"the variable w", "W"}, {"the op x", "X"}, {"the op m", "M"}, {"the op s", "S"}, {"the op m", "again"}};
  EXPECT_THAT(OrderOfModel(parts, {{"a", "s"}, {"m:1", "m:1"}, {"none", "none"}, {"w", "w"}, {"w@gradient", "m"}}),
              ::testing::ElementsAre(std::make_pair("w", "W"), std::make_pair("m:1", "M"),
                                     std::make_pair("w@gradient", "M"), std::make_pair("a", "S")));
}

// A weight that is another one in the second run: what is made of it differs, and what is not made of it does not.
TEST(CompareSteps, AStepOfTwoRunsPartsWhereTheWeightIsRead) {
  std::vector<std::string> files;
  for (const float bias : {0.0f, 0.5f}) {
    const std::string dir = test::ModelDir(absl::StrCat(bias));
    const ModelFn model = [=](const Features& features, const Tensor& labels, Mode, const Params&) {
      const Tensor x = layers::Dense(features["x"], {.units = 4, .activation = Relu});
      const Tensor y = layers::Dense(x, {.units = 1, .bias_initializer = initializers::Constant(bias)});
      const Tensor loss = losses::MeanSquaredError(labels, y);
      return EstimatorSpec::Train(loss, optimizers::SGD({.learning_rate = 0.01}).Minimize(loss));
    };
    {
      Estimator estimator(model, test::Config(dir));
      ASSERT_EQ(estimator.Train(test::LineInput(), {.max_steps = 3}), absl::OkStatus());
    }
    files.push_back(JoinPath(::testing::TempDir(), absl::StrCat("compare_steps_run_", bias, ".npz")));
    SetReplayOfProcess(ReplayRequest{.step = 0, .dump_step = true, .out = files.back()});
    Estimator estimator(model, test::Config(dir));
    EXPECT_EQ(ExitCodeFor(estimator.Train(test::LineInput(), {.max_steps = 3})), kExitOk);
    SetReplayOfProcess(std::nullopt);
  }
  const auto compared = CompareSteps(files[0], files[1]);
  ASSERT_TRUE(compared.ok()) << compared.status();
  EXPECT_FALSE(compared->equal);
  EXPECT_THAT(compared->text, HasSubstr("dense_1/bias is the first tensor that differs, in the order of the model"));
  EXPECT_THAT(compared->text, HasSubstr("compare_steps_test.cc:"));
  EXPECT_THAT(compared->text, HasSubstr("  dense_1/Add: "));
  EXPECT_THAT(compared->text, Not(HasSubstr("  dense_1/MatMul: ")));
}

}  // namespace
}  // namespace tandem
