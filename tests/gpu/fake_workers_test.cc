// Jobs on the fake GPUs of several processes: the bits of one process with all of them.
#include <csignal>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/env.h"
#include "base/exit_code.h"
#include "cluster/testing_address.h"
#include "gtest/gtest.h"
#include "runtime/collectives/connect.h"
#include "runtime/collectives/testing/folder_store.h"
#include "runtime/collectives/testing/processes.h"
#include "tests/gpu/fake_job.h"

namespace tandem {
namespace {

struct World {
  int processes, gpus_of_each;
  // Every process sees the GPUs of all, as on one machine, and takes its own ones.
  bool sees_all = false;
  int lost_rank = -1;     // at its first all-reduce
  int failing_rank = -1;  // behind the first step
};

std::vector<std::string> Gpus(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(absl::StrCat("gpu:", i));
  return names;
}

// All that a job has computed, as bytes.
std::string BitsOf(const Job& job) {
  std::string bits(reinterpret_cast<const char*>(job.losses.data()), job.losses.size() * sizeof(float));
  bits.append(reinterpret_cast<const char*>(&job.eval_loss), sizeof job.eval_loss);
  return bits.append(static_cast<const char*>(job.kernel.raw()), job.kernel.byte_size());
}

// Runs a job in the processes of a world, which call `ended` with its result. All of it is in children, so that this
// process keeps its one thread.
std::unique_ptr<Processes> Start(const World& world, JobSpec spec, const std::string& dir, const TestFolder& folder,
                                 const std::function<void(int rank, const absl::StatusOr<Job>&)>& ended) {
  const std::string coordinator = FreeAddress();
  return std::make_unique<Processes>(world.processes, [&](int rank) {
    FolderStore store(folder.path());
    absl::StatusOr<std::unique_ptr<ProcessGroup>> of_nccl;
    spec.devices = MirroredStrategy(Gpus(world.gpus_of_each));
    if (world.processes > 1) {
      spec.devices = MultiWorkerMirroredStrategy(Gpus(world.gpus_of_each));
      spec.cluster = Cluster{.source = "a test",
                             .task = {rank == 0 ? TaskType::kChief : TaskType::kWorker, rank == 0 ? 0 : rank - 1},
                             .rank = rank,
                             .world_size = world.processes,
                             .coordinator = coordinator};
      ConnectOptions options;
      options.rank = rank;
      options.size = world.processes;
      options.store = &store;
      options.prefix = "nccl";
      of_nccl = ConnectProcessGroup(options);
      EXPECT_TRUE(of_nccl.ok()) << of_nccl.status();
      spec.fake_nccl = of_nccl->get();
    }
    spec.killed_at_first_all_reduce = rank == world.lost_rank;
    spec.fails_behind_first_step = rank == world.failing_rank;
    const int gpus = world.gpus_of_each * (world.sees_all ? world.processes : 1);
    ended(rank, RunJobOnFakeGpus(spec, gpus, dir));
    return ::testing::Test::HasFailure() ? 1 : 0;
  });
}

// The bits of every process.
std::vector<std::string> BitsOf(const World& world, const JobSpec& spec, const std::string& name) {
  const TestFolder folder;
  const auto file = [&](int rank) { return absl::StrCat(folder.path(), "/bits", rank); };
  const auto processes = Start(world, spec, JobDir(name), folder, [&](int rank, const absl::StatusOr<Job>& job) {
    EXPECT_TRUE(job.ok()) << job.status();
    if (job.ok()) std::ofstream(file(rank), std::ios::binary) << BitsOf(*job);
  });
  EXPECT_EQ(processes->WaitAll(), 0);
  std::vector<std::string> bits;
  for (int rank = 0; rank < world.processes; ++rank) {
    bits.push_back(Env::Default()->ReadFile(file(rank)).value_or(absl::StrCat("nothing of ", rank)));
  }
  return bits;
}

void ExpectSameBits(const JobSpec& spec, const std::vector<World>& worlds) {
  std::string want;
  for (size_t w = 0; w < worlds.size(); ++w) {
    const std::string name = absl::StrCat(worlds[w].processes, "x", worlds[w].gpus_of_each, "_", w);
    for (const std::string& bits : BitsOf(worlds[w], spec, name)) {
      if (want.empty()) want = bits;
      EXPECT_TRUE(bits == want) << name << " computes other bits";
    }
  }
}

TEST(FakeWorkersTest, TwoGpus) {
  for (const char* model : {"normalised", "depthwise", "dense"}) {
    SCOPED_TRACE(model);
    ExpectSameBits({.model = model, .steps = 4}, {{1, 2}, {2, 1}, {2, 1, /*sees_all=*/true}});
  }
}

// 24 images in batches of 10: the third batch has four, all of them the first replica's. The second one is full, and
// its rows begin at another row of the global batch than in the steps around.
TEST(FakeWorkersTest, AShortBatch) {
  ExpectSameBits({.model = "normalised", .batch = 10, .steps = 6}, {{1, 2}, {2, 1}});
}

// Three numbers have an order, which is the tree's here.
TEST(FakeWorkersTest, FourGpusInTreeOrder) {
  ExpectSameBits({.model = "normalised", .batch = 4, .steps = 3, .deterministic = true}, {{1, 4}, {2, 2}, {4, 1}});
}

TEST(FakeWorkersTest, ALostWorkerIsNamed) {
  const TestFolder folder;
  const std::string dir = JobDir("lost");
  const auto processes =
      Start({2, 1}, {.model = "dense", .steps = 100000}, dir, folder, [](int, const absl::StatusOr<Job>& job) {
        EXPECT_EQ(ExitCodeFor(job.status()), kExitTemporary) << job.status();
        EXPECT_TRUE(absl::StrContains(job.status().message(), "rank 1 (worker 0")) << job.status();
      });
  const std::string begun = dir + "/checkpoint";  // the one before the first step
  for (int i = 0; i < 6000 && !Env::Default()->Exists(begun); ++i) absl::SleepFor(absl::Milliseconds(10));
  ASSERT_TRUE(Env::Default()->Exists(begun));
  absl::SleepFor(absl::Seconds(1));
  processes->Signal(1, SIGKILL);
  EXPECT_EQ(processes->Wait(0), 0);
}

// All GPUs are connected by then: else NCCL would wait for rank 1 inside of a call, whatever the cluster says.
TEST(FakeWorkersTest, AWorkerLostInTheFirstStepIsNamed) {
  const TestFolder folder;
  const World world{.processes = 2, .gpus_of_each = 1, .lost_rank = 1};
  const auto processes =
      Start(world, {.model = "dense", .steps = 10}, JobDir("lost"), folder, [](int, const absl::StatusOr<Job>& job) {
        EXPECT_EQ(ExitCodeFor(job.status()), kExitTemporary) << job.status();
        EXPECT_TRUE(absl::StrContains(job.status().message(), "rank 1 (worker 0")) << job.status();
      });
  EXPECT_EQ(processes->Wait(0), 0);
  EXPECT_EQ(processes->Wait(1), -SIGKILL);
}

// Neither waits for the other when it gives its GPUs back.
TEST(FakeWorkersTest, AWorkerThatFailsBetweenStepsEndsAll) {
  const TestFolder folder;
  const World world{.processes = 2, .gpus_of_each = 1, .failing_rank = 1};
  const auto processes =
      Start(world, {.model = "dense", .steps = 10}, JobDir("failing"), folder, [](int, const absl::StatusOr<Job>& job) {
        EXPECT_TRUE(absl::StrContains(job.status().message(), "a hook gives up")) << job.status();
      });
  EXPECT_EQ(processes->WaitAll(), 0);
}

// A GPU has no room for the replicas of others, and a smaller global batch would be another training.
TEST(FakeWorkersTest, AJobDoesNotGoOnWithFewerWorkers) {
  const std::string dir = JobDir("fewer");
  Processes process(1, [&](int) {
    JobSpec spec{.model = "dense", .devices = MultiWorkerMirroredStrategy({"gpu:0"}), .steps = 1};
    spec.cluster =
        Cluster{.source = "a test", .rank = 1, .world_size = 2, .full_world_size = 4, .coordinator = FreeAddress()};
    const absl::Status status = RunJobOnFakeGpus(spec, 1, dir).status();
    EXPECT_EQ(ExitCodeFor(status), kExitUsage) << status;
    EXPECT_TRUE(absl::StrContains(
        status.message(), "there are 2 of 4 workers, and a GPU does not take the replicas of missing ones over"))
        << status;
    return ::testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(process.WaitAll(), 0);
}

TEST(FakeWorkersTest, MixedPrecision) {
  ExpectSameBits({.model = "dense", .steps = 3, .precision = Precision::kMixedBfloat16}, {{1, 2}, {2, 1}});
}

}  // namespace
}  // namespace tandem
