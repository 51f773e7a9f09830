// All-reduces that go on beside the commands behind them, and look for values that are not finite meanwhile.
#include <atomic>
#include <chrono>
#include <limits>
#include <thread>

#include "frontends/layers.h"
#include "frontends/optimizers.h"
#include "gmock/gmock.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "runtime/collectives/testing/thread_group.h"
#include "runtime/device_classes/device_classes.h"
#include "runtime/format/index.h"
#include "runtime/session/command_trace.h"
#include "runtime/threads/thread_pool.h"
#include "tests/compiled/harness.h"
#include "tests/compiled/workers.h"

namespace tandem::compiled {
namespace {

using testing::IsEmpty;

constexpr int kDevices = 4;

// Gradients of several buckets, one product behind the other.
void Perceptron(GraphBuilder& g) {
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, 512});
  for (int i = 0; i < 3; ++i) x = layers::Dense(x, {.units = 1024, .activation = Relu});
  Tensor loss = ReduceMean(Square(layers::Dense(x, {.units = 8})));
  g.Output("loss", loss);
  optimizers::Adam({.learning_rate = 0.001}).Minimize(loss);
}

const Options kOptions{.devices = kDevices, .batch = 8};

int OverlappedCommands(const Executable& executable) {
  int count = 0;
  for (const auto& section : executable.index().programs[0].sections) {
    for (const auto& command : section.commands) count += command.overlap > 0 ? 1 : 0;
  }
  return count;
}

TensorMap Batch(const Program& program, int64_t rows, int seed) {
  return RandomInputs(*program.executable, rows, kOptions, seed);
}

TEST(Overlap, SameBitsAsOneProcess) {
  for (const int count : {2, 4}) {
    auto one = Prepare(Perceptron, kOptions), mine = Prepare(Perceptron, kOptions);
    ASSERT_TRUE(one.ok()) << one.status();
    ASSERT_TRUE(mine.ok()) << mine.status();
    ASSERT_GE(OverlappedCommands(*mine->executable), 2);
    auto workers = Workers::Make(mine->executable, count);
    ASSERT_TRUE(workers.ok()) << workers.status();
    ASSERT_TRUE(workers->Assign(one->Values()).ok());
    for (int step = 0; const std::vector<int64_t>& rows :
                       std::vector<std::vector<int64_t>>{{8, 8, 8, 8}, {8, 8, 8, 3}, {8, 5, 0, 0}, {1, 0, 0, 0}}) {
      StepInputs inputs = Deal(*one, Batch(*one, rows[0] + rows[1] + rows[2] + rows[3], step), rows, step);
      ++step;
      ASSERT_TRUE(one->Run(inputs).ok());
      inputs.replica_rows = rows;
      auto results = workers->Run(inputs);
      ASSERT_TRUE(results.ok()) << results.status();
      EXPECT_THAT(workers->Differences(one->Values()), IsEmpty()) << count << " workers, step " << step;
    }
  }
}

// A gradient that is not finite on one worker ends the step of all, whatever all-reduce it comes in, and wherever the
// devices are.
TEST(Overlap, AGradientThatIsNotFiniteEndsTheStep) {
  auto program = Prepare(Perceptron, kOptions);
  ASSERT_TRUE(program.ok()) << program.status();
  const std::vector<int64_t> rows(kDevices, 8);
  const TensorMap good = Batch(*program, 8 * kDevices, 0);
  TensorMap bad = good;
  bad["x"] = good.at("x").Clone();
  bad["x"].data<float>()[512 * 31 + 7] = std::numeric_limits<float>::quiet_NaN();  // of the last replica
  const TensorMap before = program->Values();
  EXPECT_FALSE(program->Run(Deal(*program, bad, rows, 0)).value().finite);
  for (const auto& [name, value] : program->Values()) EXPECT_TRUE(value.BitEqual(before.at(name))) << name;
  for (const int count : {2, 4}) {
    auto workers = Workers::Make(program->executable, count);
    ASSERT_TRUE(workers.ok()) << workers.status();
    ASSERT_TRUE(workers->Assign(before).ok());
    auto results = workers->Run(Deal(*program, bad, rows, 0));
    ASSERT_TRUE(results.ok()) << results.status();
    for (const StepResult& result : *results) EXPECT_FALSE(result.finite);
    EXPECT_THAT(workers->Differences(before), IsEmpty());
    // What was found is forgotten with the step.
    results = workers->Run(Deal(*program, good, rows, 0));
    ASSERT_TRUE(results.ok()) << results.status();
    for (const StepResult& result : *results) EXPECT_TRUE(result.finite);
  }
}

// One of two workers, whose peer does not come.
class Alone : public testing::Test {
 protected:
  void SetUp() override {
    auto prepared = Prepare(Perceptron, {.devices = 2, .batch = 8});
    ASSERT_TRUE(prepared.ok()) << prepared.status();
    program_ = *std::move(prepared);
    groups_ = MakeThreadGroups(2);
    Session::Options options{std::make_shared<ThreadPool>(1)};
    options.group = groups_[0].get();
    auto variables = std::make_shared<VariableStore>(1);
    auto session = CreateSession(program_.executable, variables, options);
    ASSERT_TRUE(session.ok()) << session.status();
    session_ = *std::move(session);
    for (const auto& [name, value] : program_.Values()) ASSERT_TRUE(variables->Assign(name, value).ok());
    inputs_ = Deal(program_, Batch(program_, 16, 0), {8, 8}, 0);
    inputs_.inputs.pop_back();
    inputs_.replica_rows = {8, 8};
  }

  Program program_;
  std::vector<std::unique_ptr<ProcessGroup>> groups_;
  std::unique_ptr<Session> session_;
  StepInputs inputs_;
};

TEST_F(Alone, ALostPeerEndsTheStep) {
  std::thread watch([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    groups_[0]->Abort(absl::UnavailableError("rank 1 is lost"));
  });
  const absl::Status status = session_->Run(inputs_, {}).status();
  watch.join();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), testing::EndsWith(": rank 1 is lost"));
  EXPECT_FALSE(session_->Run(inputs_, {}).ok());
}

// Both: what travels beside commands is on a list of its own.
TEST_F(Alone, ATraceHasWhatTravels) {
  auto variables = std::make_shared<VariableStore>(1);
  Session::Options options{std::make_shared<ThreadPool>(1)};
  options.group = groups_[1].get();
  auto other = CreateSession(program_.executable, variables, options);
  ASSERT_TRUE(other.ok()) << other.status();
  for (const auto& [name, value] : program_.Values()) ASSERT_TRUE(variables->Assign(name, value).ok());
  CommandTrace trace;
  session_->set_trace(&trace);
  StepInputs theirs = Deal(program_, Batch(program_, 16, 0), {8, 8}, 0);
  theirs.inputs.erase(theirs.inputs.begin());
  theirs.replica_rows = {8, 8};
  std::thread peer([&] { EXPECT_TRUE((*other)->Run(theirs, {}).ok()); });
  EXPECT_TRUE(session_->Run(inputs_, {}).ok());
  peer.join();
  session_->set_trace(nullptr);
  EXPECT_EQ(static_cast<int>(trace.communication.size()), OverlappedCommands(*program_.executable));
  for (size_t i = 1; i < trace.communication.size(); ++i) {
    EXPECT_LE(trace.communication[i - 1].end, trace.communication[i].begin);
  }
}

}  // namespace
}  // namespace tandem::compiled
