// How a benchmark's steps meet a session: which batches they bring ahead, and what they count.
#include "benchmarks/bench_program.h"

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "base/host_tensor.h"
#include "gtest/gtest.h"
#include "runtime/session/session.h"

namespace tandem::benchmarks {
namespace {

// A step takes as long as it takes until its batch was brought.
class RecordingSession : public Session {
 public:
  absl::StatusOr<StepResult> Run(const StepInputs& inputs, const std::vector<int>&) override {
    ++steps;
    while (prefetched < steps) std::this_thread::yield();
    in_step = inputs.inputs[0][0].raw();
    StepResult result;
    result.outputs.push_back(HostTensor::Scalar<float>(7));
    result.issue_seconds = 0.25;
    return result;
  }
  absl::StatusOr<std::string> FindNonFinite(const StepInputs&) override { return std::string(); }
  void Prefetch(const StepInputs& inputs) override {
    brought = inputs.inputs[0][0].raw();
    scalars += inputs.scalars.size();
    ++prefetched;
  }
  bool CanPrefetch() const override { return true; }
  SessionMemory memory() const override { return {}; }
  std::vector<CommandTime> command_times() const override { return {}; }
  void set_trace(CommandTrace*) override {}

  std::atomic<int> prefetched = 0;
  int steps = 0;
  std::atomic<const void*> brought = nullptr, in_step = nullptr;
  std::atomic<size_t> scalars = 0;
};

TEST(BenchProgramTest, StepsBringTheNextBatchAsTheyRun) {
  auto session = std::make_shared<RecordingSession>();
  BenchProgram program;
  program.session = session;
  program.inputs = std::make_shared<StepInputs>();
  program.inputs->inputs = {{HostTensor(DType::kFloat32, {4, 2})}};
  program.ahead = std::make_shared<BatchAhead>(session, *program.inputs);
  program.inputs->scalars["global_step"] = int64_t{0};
  for (int step = 1; step <= 3; ++step) {
    absl::StatusOr<double> loss = program.Step();
    ASSERT_TRUE(loss.ok()) << loss.status();
    EXPECT_EQ(*loss, 7);
    EXPECT_EQ(session->prefetched, step);
    // The same tensors: the session knows a batch by its address.
    EXPECT_EQ(session->brought, session->in_step);
  }
  EXPECT_EQ(session->scalars, 0);
  EXPECT_EQ(program.inputs->scalars["global_step"].integer(), 3);
  EXPECT_EQ(program.issue_seconds, 0.75);
}

}  // namespace
}  // namespace tandem::benchmarks
