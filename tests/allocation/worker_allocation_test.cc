// Lets allocations fail in one process of a cluster: in workers that train in step, and where there is a parameter
// server. None of the processes hangs, and nothing saved is damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "cluster/testing_address.h"
#include "runtime/collectives/testing/processes.h"
#include "tests/allocation/trained_model.h"

namespace tandem {
namespace {

using test::Armed;
using test::ProcessEnd;
using ::testing::AnyOf;

class WorkerAllocationTest : public test::TrainedModel {
 public:
  WorkerAllocationTest() { TryFewer(); }

  // What process number `task` of a cluster of two does: trains from step 2 to step 4, or serves that.
  absl::Status Work(RunConfig config, Cluster cluster) const {
    SetMinLogSeverity(LogSeverity::kError);
    config.save_summary_steps = 0;
    config.peer_deadline_secs = 2;
    config.cluster = std::move(cluster);
    Estimator estimator(test::LineModel, config);
    return estimator.Train(test::LineInput(), {.max_steps = 4});
  }

  absl::Status WorkInStep(int rank, const std::string& address) const {
    RunConfig config = ConfigIn(Scratch());
    config.train_distribute = MultiWorkerMirroredStrategy({"cpu:0"});
    return Work(std::move(config), Cluster{.source = "a test",
                                           .task = {rank == 0 ? TaskType::kChief : TaskType::kWorker, 0},
                                           .rank = rank,
                                           .world_size = 2,
                                           .coordinator = address});
  }

  // Process 0 is the chief, process 1 the parameter server.
  absl::Status WorkServed(int task, const std::string& address) const {
    RunConfig config = ConfigIn(Scratch());
    config.train_distribute = ParameterServerStrategy({"cpu:0"});
    Cluster cluster{.source = "a test", .world_size = 1};
    cluster.addresses[TaskType::kParameterServer] = {address};
    cluster.task = {task == 0 ? TaskType::kChief : TaskType::kParameterServer, 0};
    cluster.rank = task == 0 ? 0 : -1;
    return Work(std::move(config), std::move(cluster));
  }

  using Task = absl::Status (WorkerAllocationTest::*)(int task, const std::string& address) const;

  // Allocations fail in process number `failing`; the other one has all memory.
  void TryTask(const std::string& what, Task task, int failing) {
    TryProcesses(
        what,
        [&](int64_t n, bool sticky) {
          Refresh();
          const std::string address = FreeAddress();
          Processes other(
              1,
              [&](int) {
                const absl::Status status = (this->*task)(1 - failing, address);
                return status.ok() ? 0 : ExitCodeFor(status);
              },
              /*most_seconds=*/60);
          ProcessEnd end = InChild(
              n, sticky, [&](const Armed& armed) { return armed([&] { return (this->*task)(failing, address); }); });
          // The one that is left would wait for it, as long as a process may take to start.
          if (end.exit_code != kExitOk) other.Signal(0, SIGKILL);
          EXPECT_THAT(other.Wait(0), AnyOf(kExitOk, kExitIo, kExitTemporary, -SIGKILL)) << "the other process";
          return end;
        },
        [&] {
          CheckCheckpoint({2, 3, 4});
        });
  }
};

TEST_F(WorkerAllocationTest, ChiefInStep) { TryTask("the chief, in step", &WorkerAllocationTest::WorkInStep, 0); }
TEST_F(WorkerAllocationTest, WorkerInStep) { TryTask("a worker, in step", &WorkerAllocationTest::WorkInStep, 1); }
TEST_F(WorkerAllocationTest, ServedWorker) { TryTask("a served worker", &WorkerAllocationTest::WorkServed, 0); }
TEST_F(WorkerAllocationTest, ParameterServer) { TryTask("a parameter server", &WorkerAllocationTest::WorkServed, 1); }

}  // namespace
}  // namespace tandem
