#include "runtime/session/step_inputs.h"

#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/executable/executable.h"
#include "runtime/testing/executable_builder.h"

namespace tandem {
namespace {

// A program of four replicas with at most three rows each, and the scalars that a session sets.
std::shared_ptr<const Executable> FourReplicas() {
  ExecutableBuilder b(/*replicas=*/4, /*lanes=*/4, /*rows_per_lane=*/3, /*microbatch_rows=*/3);
  b.Input("x", {kBatch});
  b.Scalar("example_count");
  b.Scalar("replica_example_count");
  b.Scalar("replica_index", DType::kInt32);
  b.Scalar("rate");
  absl::StatusOr<std::shared_ptr<const Executable>> executable =
      Executable::Parse(BuildExecutable(b.Take(), {}), "four");
  EXPECT_TRUE(executable.ok()) << executable.status();
  return executable.ok() ? *executable : nullptr;
}

StepInputs Rows(const std::vector<int64_t>& rows) {
  StepInputs step;
  for (int64_t n : rows) step.inputs.push_back({HostTensor::Zeros(DType::kFloat32, {n})});
  step.scalars["rate"] = 0.5;
  step.scalars["replica_index"] = 7;  // nobody else's to set
  return step;
}

template <typename T>
T As(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

void ExpectScalars(const ReplicaInputs& replica, float all, float rows, int32_t index) {
  EXPECT_EQ(As<float>(replica.scalars[0]), all);
  EXPECT_EQ(As<float>(replica.scalars[1]), rows);
  EXPECT_EQ(As<int32_t>(replica.scalars[2]), index);
  EXPECT_EQ(As<float>(replica.scalars[3]), 0.5f);
}

TEST(StepInputs, EachReplicaHasItsScalars) {
  const auto executable = FourReplicas();
  ASSERT_NE(executable, nullptr);
  std::vector<ReplicaInputs> replicas;
  ASSERT_EQ(ResolveStepInputs(*executable, Rows({3, 3, 2, 0}), &replicas), absl::OkStatus());
  ASSERT_EQ(replicas.size(), 4u);
  ExpectScalars(replicas[0], 8, 3, 0);
  ExpectScalars(replicas[1], 8, 3, 1);
  ExpectScalars(replicas[2], 8, 2, 2);
  ExpectScalars(replicas[3], 8, 0, 3);
}

TEST(StepInputs, ReplicasAreCountedOverAllProcesses) {
  const auto executable = FourReplicas();
  ASSERT_NE(executable, nullptr);
  StepInputs step = Rows({2, 0});
  step.replica_rows = {3, 3, 2, 0};
  std::vector<ReplicaInputs> replicas;
  ASSERT_EQ(ResolveStepInputs(*executable, step, &replicas, /*first_replica=*/2, /*processes=*/2), absl::OkStatus());
  ASSERT_EQ(replicas.size(), 2u);
  ExpectScalars(replicas[0], 8, 2, 2);
  ExpectScalars(replicas[1], 8, 0, 3);
}

TEST(StepInputs, ANumberThatTheScalarCannotHoldIsAnError) {
  const auto executable = FourReplicas();
  ASSERT_NE(executable, nullptr);
  StepInputs step = Rows({1, 0, 0, 0});
  std::vector<ReplicaInputs> replicas;
  step.scalars["rate"] = 1e39;
  EXPECT_EQ(ResolveStepInputs(*executable, step, &replicas).message(),
            "scalar 'rate' is 1e+39, which float32 cannot hold");
  step.scalars["rate"] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(ResolveStepInputs(*executable, step, &replicas), absl::OkStatus());
}

// Such as the evaluation of a loss that reads variables only.
TEST(StepInputs, AProgramWithoutInputsHasTheRowsThatItIsTold) {
  ExecutableBuilder b(/*replicas=*/2, /*lanes=*/2, /*rows_per_lane=*/3, /*microbatch_rows=*/3);
  b.Scalar("example_count");
  b.Scalar("replica_example_count");
  const auto executable = Executable::Parse(BuildExecutable(b.Take(), {}), "no inputs");
  ASSERT_TRUE(executable.ok()) << executable.status();
  StepInputs step;
  step.inputs.resize(2);
  std::vector<ReplicaInputs> replicas;
  step.replica_rows = {3, 2};
  ASSERT_EQ(ResolveStepInputs(**executable, step, &replicas), absl::OkStatus());
  EXPECT_EQ(replicas[1].rows, 2);
  EXPECT_EQ(replicas[1].first_row, 3);
  EXPECT_EQ(As<float>(replicas[1].scalars[0]), 5);
  EXPECT_EQ(As<float>(replicas[1].scalars[1]), 2);
  step.replica_rows = {3, 4};
  EXPECT_EQ(ResolveStepInputs(**executable, step, &replicas).code(), absl::StatusCode::kInvalidArgument);
  step.replica_rows = {3};
  EXPECT_EQ(ResolveStepInputs(**executable, step, &replicas).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tandem
