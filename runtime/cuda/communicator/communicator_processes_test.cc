// Communicators over real processes, each with fake GPUs and a fake NCCL of its own: values against the CPU's reduction
// tree, and what is said when a process is lost.
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/notification.h"
#include "base/exit_code.h"
#include "gtest/gtest.h"
#include "runtime/collectives/connect.h"
#include "runtime/collectives/testing/folder_store.h"
#include "runtime/collectives/testing/processes.h"
#include "runtime/collectives/testing/values.h"
#include "runtime/cuda/communicator/communicator.h"
#include "runtime/cuda/driver/memory_calls.h"
#include "runtime/cuda/testing/fake_driver.h"
#include "runtime/cuda/testing/fake_library_kernels.h"
#include "runtime/cuda/testing/fake_nccl.h"

namespace tandem {
namespace {

std::unique_ptr<ProcessGroup> Connect(FolderStore& store, const std::string& prefix, int rank, int size) {
  ConnectOptions options;
  options.rank = rank;
  options.size = size;
  options.store = &store;
  options.prefix = prefix;
  options.deadline = absl::Seconds(20);
  absl::StatusOr<std::unique_ptr<ProcessGroup>> group = ConnectProcessGroup(options);
  EXPECT_TRUE(group.ok()) << group.status();
  return *std::move(group);
}

// One process with `gpus` fake GPUs, of several that are as large.
class Process {
 public:
  Process(const std::string& folder, int rank, int size, int gpus)
      : store_(folder),
        group_(Connect(store_, "group", rank, size)),
        of_nccl_(Connect(store_, "nccl", rank, size)),
        fake_(FakeDriver::Options{.gpus = gpus}),
        gpus_(gpus),
        first_(rank * gpus) {
    RegisterLibraryKernels(fake_);
    nccl_.ConnectProcesses(of_nccl_.get());
    for (int r = 0; r < gpus; ++r) {
      CommunicatorDevice device = {.ordinal = r};
      EXPECT_EQ(api().cuDevicePrimaryCtxRetain(&device.context, r), 0);
      EXPECT_EQ(api().cuCtxSetCurrent(device.context), 0);
      devices_.push_back(device);
      streams_.emplace_back();
      EXPECT_EQ(api().cuStreamCreate(&streams_.back(), kCudaStreamNonBlocking), 0);
    }
  }

  absl::Status Make(bool tree_order) {
    absl::StatusOr<std::unique_ptr<Communicator>> made =
        MakeCommunicator(&fake_.api(), devices_, tree_order, group_.get());
    if (made.ok()) communicator_ = *std::move(made);
    return made.status();
  }

  // As a test fails whose child ends with 1.
  int End() {
    fake_.Drain();
    communicator_.reset();
    for (const auto& [address, replica] : memory_) {
      api().cuCtxSetCurrent(devices_[replica].context);
      api().cuMemFree_v2(address);
    }
    for (int r = 0; r < gpus_; ++r) {
      api().cuCtxSetCurrent(devices_[r].context);
      api().cuStreamDestroy_v2(streams_[r]);
      api().cuDevicePrimaryCtxRelease_v2(r);
    }
    EXPECT_EQ(absl::StrJoin(fake_.TakeViolations(), "; "), "");
    EXPECT_EQ(absl::StrJoin(nccl_.TakeViolations(), "; "), "");
    EXPECT_EQ(nccl_.live_communicators(), 0);
    return ::testing::Test::HasFailure() ? 1 : 0;
  }

  template <typename T>
  CollectiveTensor Upload(uint64_t salt, int64_t count) {
    CollectiveTensor t;
    t.dtype = DTypeOf<T>::value;
    t.elements = count;
    for (int r = 0; r < gpus_; ++r) {
      CUdeviceptr address = 0;
      const uint64_t bytes = count * sizeof(T);
      api().cuCtxSetCurrent(devices_[r].context);
      EXPECT_EQ(api().cuMemAlloc_v2(&address, bytes), 0);
      memory_.push_back({address, r});
      t.buffers.push_back(address);
      EXPECT_EQ(fake_.Enqueue(streams_[r], "produce", {{address, bytes, true}},
                              [address, bytes, values = TestVector<T>(salt, first_ + r, count)] {
                                std::memcpy(reinterpret_cast<void*>(address), values.data(), bytes);
                              }),
                0);
    }
    return t;
  }

  // The all-reduce of two tensors, with each replica in turn absent, against its definition.
  template <typename T>
  void Check(format::ReduceKind kind, int64_t count) {
    const int n = communicator_->replicas();
    for (int absent = -1; absent < n; ++absent) {
      const uint64_t salt = ++salt_;
      const std::unique_ptr<bool[]> here(new bool[n]);
      std::vector<bool> present(n);
      for (int r = 0; r < n; ++r) present[r] = here[r] = r != absent;
      const CollectiveTensor tensors[] = {Upload<T>(salt, count), Upload<T>(salt + 1000, 3)};
      absl::Status status = communicator_->AllReduce(kind, tensors, present, streams_);
      if (status.ok()) status = Wait(20);
      ASSERT_TRUE(status.ok()) << status;
      for (const CollectiveTensor& t : tensors) {
        const uint64_t of = &t == tensors ? salt : salt + 1000;
        const std::vector<T> want = ReducedTestVector<T>(of, kind, absl::MakeConstSpan(here.get(), n), t.elements);
        for (CUdeviceptr buffer : t.buffers) {
          const T* got = reinterpret_cast<const T*>(buffer);
          for (int64_t i = 0; i < t.elements; ++i) {
            if (communicator_->tree_order() || kind == format::ReduceKind::kMax || std::is_integral_v<T>) {
              ASSERT_EQ(got[i], want[i]) << "element " << i << " of " << t.elements << ", absent " << absent;
            } else {
              double most = 0;  // that a sum in any order reaches
              for (int r = 0; r < n; ++r) most += std::abs(static_cast<double>(TestValue<T>(of, r, i, false)));
              ASSERT_NEAR(got[i], want[i], 4 * std::numeric_limits<T>::epsilon() * most) << "element " << i;
            }
          }
        }
      }
    }
  }

  absl::Status Wait(double deadline) { return communicator_->Wait(streams_, deadline, "a collective"); }
  Communicator& communicator() { return *communicator_; }
  ProcessGroup& group() { return *group_; }
  FakeDriver& fake() { return fake_; }
  FakeNccl& nccl() { return nccl_; }
  absl::Span<const CUstream> streams() const { return streams_; }

 private:
  const DriverApi& api() { return fake_.api(); }

  FolderStore store_;
  const std::unique_ptr<ProcessGroup> group_, of_nccl_;
  FakeDriver fake_;
  FakeNccl nccl_;
  const int gpus_, first_;
  std::vector<CommunicatorDevice> devices_;
  std::vector<CUstream> streams_;
  std::vector<std::pair<CUdeviceptr, int>> memory_;
  std::unique_ptr<Communicator> communicator_;
  uint64_t salt_ = 0;
};

// Runs `body` in each of several processes.
void RunProcesses(int size, int gpus, const std::function<int(Process& process, int rank)>& body) {
  const TestFolder folder;
  Processes processes(size, [&](int rank) {
    Process process(folder.path(), rank, size, gpus);
    return body(process, rank);
  });
  EXPECT_EQ(processes.WaitAll(), 0);
}

struct World {
  int processes, gpus;
  bool tree_order;
};

class CommunicatorProcessesTest : public ::testing::TestWithParam<World> {};

TEST_P(CommunicatorProcessesTest, MatchesTheReductionTree) {
  const World world = GetParam();
  RunProcesses(world.processes, world.gpus, [&](Process& process, int) {
    const absl::Status made = process.Make(world.tree_order);
    EXPECT_TRUE(made.ok()) << made;
    if (!made.ok()) return 1;
    EXPECT_STREQ(process.communicator().name(), "NCCL");
    EXPECT_EQ(process.communicator().replicas(), world.processes * world.gpus);
    EXPECT_EQ(process.communicator().tree_order(), world.tree_order || world.processes * world.gpus <= 2);
    for (const int64_t count : {1, 300, 4097, 10000}) {
      process.Check<float>(format::ReduceKind::kSum, count);
      process.Check<float>(format::ReduceKind::kMax, count);
      process.Check<double>(format::ReduceKind::kMean, count);
      process.Check<int64_t>(format::ReduceKind::kSum, count);
    }
    return process.End();
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, CommunicatorProcessesTest,
                         ::testing::Values(World{2, 1, false}, World{2, 2, false}, World{2, 2, true}, World{3, 1, true},
                                           World{4, 1, true}, World{2, 3, true}),
                         [](const auto& info) {
                           return absl::StrCat(info.param.processes, "x", info.param.gpus,
                                               info.param.tree_order ? "Tree" : "");
                         });

// What the cluster says of a lost process is the error, whatever NCCL has noticed.
TEST(CommunicatorProcesses, TheGroupsErrorEndsAWait) {
  RunProcesses(2, 1, [](Process& process, int rank) {
    EXPECT_TRUE(process.Make(false).ok());
    process.group().Abort(absl::UnavailableError("worker of rank 1 is lost"));
    const absl::Status status = process.Wait(20);
    EXPECT_EQ(status.message(), "worker of rank 1 is lost");
    EXPECT_EQ(process.nccl().live_communicators(), 0);
    return process.End();
  });
}

TEST(CommunicatorProcesses, AProcessThatEndsIsAnError) {
  RunProcesses(2, 1, [](Process& process, int rank) {
    EXPECT_TRUE(process.Make(false).ok());
    if (rank == 1) _exit(0);
    const CollectiveTensor t = process.Upload<float>(1, 4);
    EXPECT_TRUE(
        process.communicator().AllReduce(format::ReduceKind::kSum, {&t, 1}, {true, true}, process.streams()).ok());
    const absl::Status status = process.Wait(20);
    EXPECT_EQ(ExitCodeFor(status), kExitTemporary) << status;
    EXPECT_TRUE(
        absl::StrContains(status.message(), "a collective failed on replica 0 (gpu:0): NCCL says remote process"))
        << status;
    return process.End();
  });
}

// Another thread gives memory back, which waits for a collective that a lost process left alone.
TEST(CommunicatorProcesses, AProcessThatIsLostEndsTheWaitForACallForMemory) {
  RunProcesses(2, 2, [](Process& process, int rank) {
    EXPECT_TRUE(process.Make(false).ok());
    if (rank == 1) _exit(0);
    const CollectiveTensor t = process.Upload<float>(1, 4);
    absl::Notification in_call, over;
    std::thread other([&] {
      std::lock_guard lock(MemoryCallsMutex());
      in_call.Notify();
      over.WaitForNotification();
    });
    in_call.WaitForNotification();
    process.group().Abort(absl::UnavailableError("worker of rank 1 is lost"));
    const std::vector<bool> all(4, true);
    EXPECT_EQ(process.communicator().AllReduce(format::ReduceKind::kSum, {&t, 1}, all, process.streams()).message(),
              "worker of rank 1 is lost");
    EXPECT_EQ(process.nccl().live_communicators(), 0);
    over.Notify();
    other.join();
    return process.End();
  });
}

// Between steps nobody waits: what the cluster says is found when the communicator is destroyed.
TEST(CommunicatorProcesses, AProcessThatIsLostBetweenStepsIsNotWaitedFor) {
  RunProcesses(2, 1, [](Process& process, int rank) {
    EXPECT_TRUE(process.Make(false).ok());
    if (rank == 1) _exit(0);
    process.group().Abort(absl::UnavailableError("worker of rank 1 is lost"));
    return process.End();
  });
}

// One process connects to the others, and then has not got what else it needs.
TEST(CommunicatorProcesses, AProcessThatDoesNotComeFarDoesNotWaitForOthers) {
  RunProcesses(2, 1, [](Process& process, int rank) {
    if (rank == 0) {
      process.fake().FailCall("cuModuleLoadDataEx", kCudaOutOfMemory);
      EXPECT_EQ(process.Make(false).code(), absl::StatusCode::kResourceExhausted);
      return process.End();
    }
    EXPECT_TRUE(process.Make(false).ok());
    process.group().Abort(absl::ResourceExhaustedError("rank 0 gives up"));
    EXPECT_EQ(process.Wait(20).message(), "rank 0 gives up");
    return process.End();
  });
}

// A GPU that two processes have taken is refused by NCCL in all of them.
TEST(CommunicatorProcesses, ARefusalSaysWhatToDo) {
  RunProcesses(2, 1, [](Process& process, int) {
    process.nccl().FailCall("ncclGroupEnd", nccl::kInvalidUsage);
    EXPECT_EQ(process.Make(false).message(),
              "NCCL cannot connect gpu:0 to other processes: internal error; each process needs GPUs of its own: set "
              "CUDA_VISIBLE_DEVICES where several are on one machine");
    return 0;
  });
}

TEST(CommunicatorProcesses, GpusOfOneProcessMustDiffer) {
  RunProcesses(2, 1, [](Process& process, int rank) {
    const CommunicatorDevice device;
    EXPECT_EQ(MakeCommunicator(nullptr, {device, device}, false, &process.group()).status().message(),
              "2 replicas on 1 GPUs: give every replica a GPU of its own");
    return process.End();
  });
}

}  // namespace
}  // namespace tandem
