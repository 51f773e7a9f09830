// The loop's runner on the real runtime, with a program written by hand: prediction = x * w, and the sum of x^T x.
#include "estimator/loop/session_runner.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/loop/batch_dealer.h"
#include "estimator/loop/run_loop.h"
#include "runtime/cuda/testing/fake_builtin_kernels.h"
#include "runtime/cuda/testing/fake_cublaslt.h"
#include "runtime/cuda/testing/fake_driver.h"
#include "runtime/cuda/testing/fake_library_kernels.h"
#include "runtime/cuda/testing/gpu_program.h"
#include "runtime/testing/executable_builder.h"

namespace tandem {
namespace {

std::shared_ptr<const Executable> Program(int replicas) {
  ExecutableBuilder b(replicas, /*lanes=*/2 * replicas, /*rows_per_lane=*/2, /*microbatch_rows=*/2);
  const int w = b.Variable("w", {1, 2});
  const int x = b.Input("x", {kBatch, 1});
  const int y = b.Batch("y", {kBatch, 2});
  const int squares = b.Lane("squares", {1, 1}, format::ReduceKind::kSum);
  const int sum = b.Step("sum", {1, 1});
  b.Map();
  b.MatMul("product", x, w, y);
  b.MatMulWeightGrad("squares", x, x, squares);
  b.Global();
  b.LaneReduce(format::ReduceKind::kSum, {squares}, {sum});
  b.AllReduce(format::ReduceKind::kSum, {sum});
  b.Output("prediction", y);
  b.Output("loss", sum);
  auto executable = Executable::Parse(BuildExecutable(b.Take(), {}));
  EXPECT_TRUE(executable.ok()) << executable.status();
  return *executable;
}

// Ten examples; the component that the program wants is not the first.
Dataset Numbers() {
  std::vector<float> x;
  for (int i = 0; i < 10; ++i) x.push_back(static_cast<float>(i));
  return Dataset::FromTensorSlices(
             {{"unused", HostTensor::Zeros(DType::kUInt8, {10})}, {"x", HostTensor::FromVector({10, 1}, x)}})
      .Batch(3);
}

class SessionRunnerTest : public ::testing::TestWithParam<int> {};

TEST_P(SessionRunnerTest, RunsTheBatchesOfADatasetToTheEnd) {
  const int replicas = GetParam();
  auto variables = std::make_shared<VariableStore>(replicas);
  auto dealer = BatchDealer::Create(Numbers(), ReplicaShare::OneProcess(replicas));
  ASSERT_TRUE(dealer.ok());
  auto runner = SessionRunner::Create(Program(replicas), variables, {.pool = std::make_shared<ThreadPool>(2)},
                                      (*dealer)->spec(), {{"learning_rate", 0.1}});
  ASSERT_TRUE(runner.ok()) << runner.status();
  EXPECT_EQ((*runner)->output_names(), (std::set<std::string>{"loss", "prediction"}));
  ASSERT_TRUE(variables->Assign("w", HostTensor::FromVector<float>({1, 2}, {1, -2})).ok());

  std::vector<float> predicted;
  double squares = 0;
  LoopOptions loop{.mode = Mode::kEval, .fetches = {"loss", "prediction"}};
  loop.on_step = [&](const RunValues& values) {
    squares += values.Number("loss");
    const HostTensor& y = values.tensors.at("prediction");
    EXPECT_EQ(y.shape(), (Shape{values.examples, 2}));
    predicted.insert(predicted.end(), y.data<float>(), y.data<float>() + y.num_elements());
    return absl::OkStatus();
  };
  int64_t global_step = 0;
  auto result = RunLoop(**runner, **dealer, {}, loop, &global_step);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->examples, 10);
  EXPECT_EQ(squares, 285);
  ASSERT_EQ(predicted.size(), 20);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(predicted[2 * i], i);
    EXPECT_EQ(predicted[2 * i + 1], -2 * i);
  }
}

INSTANTIATE_TEST_SUITE_P(Replicas, SessionRunnerTest, ::testing::Values(1, 2, 4));

TEST(SessionRunner, AnInputThatTheDatasetLacksIsAnError) {
  auto runner =
      SessionRunner::Create(Program(1), std::make_shared<VariableStore>(1), {.pool = std::make_shared<ThreadPool>(1)},
                            {{"other", DType::kFloat32, {kBatch, 1}}}, {});
  EXPECT_FALSE(runner.ok());
}

// The next batch is brought to the GPU by another thread while a step runs, and the results are the same.
TEST(SessionRunnerGpuTest, PrefetchesWhatComesNext) {
  FakeDriver driver;
  FakeCublasLt blas;
  RegisterBuiltinKernels(driver);
  RegisterLibraryKernels(driver);
  const std::string plans = absl::StrCat(testing::TempDir(), "/plans.json");
  std::remove(plans.c_str());
  {
    ExecutableBuilder b(/*replicas=*/1, /*lanes=*/1, /*rows_per_lane=*/4, /*microbatch_rows=*/4);
    const int w = b.Variable("w", {1, 2}), x = b.Input("x", {kBatch, 1}), y = b.Batch("y", {kBatch, 2});
    b.Map();
    b.MatMul("product", x, w, y);
    b.Output("prediction", y);
    auto variables = std::make_shared<VariableStore>(1);
    auto dealer = BatchDealer::Create(Numbers().Prefetch(4), {});
    ASSERT_TRUE(dealer.ok());
    auto runner =
        SessionRunner::Create(FinishGpuProgram(b), variables,
                              {.pool = std::make_shared<ThreadPool>(1), .gpu_plans = plans}, (*dealer)->spec(), {});
    ASSERT_TRUE(runner.ok()) << runner.status();
    ASSERT_TRUE((*runner)->WantsNext());
    ASSERT_TRUE(variables->Assign("w", HostTensor::FromVector<float>({1, 2}, {1, -2})).ok());
    std::vector<float> predicted;
    LoopOptions loop{.mode = Mode::kEval, .fetches = {"prediction"}};
    loop.on_step = [&](const RunValues& values) {
      auto all = values.tensors.at("prediction").values<float>();
      predicted.insert(predicted.end(), all.begin(), all.end());
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // so that the pipeline is ahead
      return absl::OkStatus();
    };
    int64_t global_step = 0;
    auto result = RunLoop(**runner, **dealer, {}, loop, &global_step);
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_EQ(predicted.size(), 20u);
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(predicted[2 * i], i);
      EXPECT_EQ(predicted[2 * i + 1], -2 * i);
    }
    EXPECT_GE(driver.CountCalls("cuMemcpyDtoDAsync_v2"), 1);  // from where it was brought to the program's input
  }
  EXPECT_EQ(absl::StrJoin(driver.TakeViolations(), "; "), "");
  // The options reach the session: the product's plan was measured, and is in the file for the next time.
  std::ifstream file(plans);
  const std::string measured((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_TRUE(absl::StrContains(measured, "MatMul a=[4,1]")) << measured;
}

}  // namespace
}  // namespace tandem
