// Steps that are made twice, by a runner that adds one to its variable and has a fault at will.
#include "estimator/record/checking_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/exit_code.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

class AddingRunner : public StepRunner {
 public:
  explicit AddingRunner(int devices) : store_(devices), devices_(devices) {
    for (const char* name : {"a", "b"}) {
      EXPECT_TRUE(store_.Create({.name = name, .dtype = DType::kFloat32, .shape = {2, 3}}).ok());
      EXPECT_TRUE(store_.Assign(name, HostTensor::Zeros(DType::kFloat32, {2, 3})).ok());
    }
  }
  absl::StatusOr<StepOutcome> Run(const StepRequest& request) override {
    ++runs;
    for (int device = 0; device < devices_; ++device) {
      for (int i = 0; i < 6; ++i) static_cast<float*>(store_.Buffer("b", device))[i] += 1;
    }
    if (fault) fault(runs);
    StepOutcome outcome;
    outcome.values["loss"] = HostTensor::Scalar<float>(loss);
    return outcome;
  }
  absl::StatusOr<std::string> FindNonFinite(const StepRequest&) override { return "an op"; }
  float At(int device, int i) { return static_cast<float*>(store_.Buffer("b", device))[i]; }
  void Set(int device, int i, float value) { static_cast<float*>(store_.Buffer("b", device))[i] = value; }

  int runs = 0;
  float loss = 0.5f;
  std::function<void(int run)> fault;
  VariableStore store_;

 private:
  const int devices_;
};

class CheckingRunnerTest : public ::testing::Test {
 protected:
  absl::Status Step(int64_t step) {
    StepRequest request;
    request.scalars["global_step"] = step;
    return checking_.Run(request).status();
  }
  AddingRunner runner_{2};
  CheckingRunner checking_{
      &runner_, 3, &runner_.store_, {{.name = "a", .shape = {2, 3}}, {.name = "b", .shape = {2, 3}}}};
};

TEST_F(CheckingRunnerTest, EveryThirdStepIsMadeTwiceAndTakenOnce) {
  for (int64_t step = 0; step < 7; ++step) EXPECT_EQ(Step(step), absl::OkStatus());
  EXPECT_EQ(runner_.runs, 10) << "steps 0, 3 and 6 twice";
  for (int device = 0; device < 2; ++device) EXPECT_EQ(runner_.At(device, 5), 7);
}

TEST_F(CheckingRunnerTest, AVariableThatDiffersIsNamed) {
  EXPECT_EQ(Step(0), absl::OkStatus());
  runner_.fault = [this](int run) {
    if (run == 4) runner_.Set(0, 4, 2.5f), runner_.Set(1, 4, 2.5f);
  };
  EXPECT_EQ(Step(1), absl::OkStatus());
  const absl::Status status = Step(3);
  EXPECT_EQ(ExitCodeFor(status), kExitInternal);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("RunConfig.check_steps_every: step 3 was made twice and came out with other bits: b: 1 of 6 "
                        "elements differ, by at most 0.5, at [1,1]: 2.5 and 3."));
  EXPECT_THAT(std::string(status.message()), HasSubstr("--replay_step=3"));
}

TEST_F(CheckingRunnerTest, ALossThatDiffersIsNamed) {
  runner_.fault = [this](int run) { runner_.loss = run == 1 ? 0.5f : 0.25f; };
  EXPECT_THAT(std::string(Step(0).message()), HasSubstr("other bits: loss: 1 of 1 elements differ"));
}

TEST_F(CheckingRunnerTest, ADeviceWithOtherVariablesIsNamed) {
  runner_.fault = [this](int) { runner_.Set(1, 0, 9); };
  EXPECT_THAT(std::string(Step(0).message()),
              HasSubstr("step 0 has left other variables on device 1 than on device 0: b: 1 of 6 elements differ"));
}

TEST_F(CheckingRunnerTest, ANaNThatComesTwiceIsNoDifference) {
  runner_.loss = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(Step(0), absl::OkStatus());
}

}  // namespace
}  // namespace tandem
