// Values of variables for a checkpoint while steps go on.
#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "runtime/cuda/testing/linear_job.h"

namespace tandem {
namespace {

class DeviceSnapshotTest : public CudaSessionTest {
 protected:
  std::vector<std::string> Names(const FakeDriver& driver, const std::vector<std::string>& wanted) {
    std::vector<std::string> names;
    for (const FakeCall& call : driver.calls()) {
      if (std::find(wanted.begin(), wanted.end(), call.name) != wanted.end()) names.push_back(call.name);
    }
    return names;
  }
};

TEST_F(DeviceSnapshotTest, HoldsTheValuesOfItsMomentWhileStepsGoOn) {
  for (int replicas : {1, 2}) {
    Job job = Start(replicas);
    for (uint32_t i = 0; i < 2; ++i) ASSERT_TRUE(job.session->Run(Inputs(Full(replicas), i), {}).ok());
    const std::vector<HostTensor> want = *job.variables->ReadAll({"w", "c"});
    fake.ClearCalls();
    auto snapshot = job.variables->Snapshot({"w", "c"});
    ASSERT_TRUE(snapshot.ok()) << snapshot.status();
    EXPECT_TRUE(snapshot->on_device());
    // The copies on the device are done before anything else can be issued; nothing has come to the host yet.
    EXPECT_EQ(absl::StrJoin(Names(fake, {"cuMemcpyDtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize"}), " "),
              "cuMemcpyDtoDAsync_v2 cuMemcpyDtoDAsync_v2 cuStreamSynchronize");
    for (uint32_t i = 2; i < 5; ++i) ASSERT_TRUE(job.session->Run(Inputs(Full(replicas), i), {}).ok());
    // On a thread of its own, as checkpoints are written, and with steps beside it.
    absl::StatusOr<std::vector<HostTensor>> got = absl::UnknownError("not read");
    std::thread reader([&] { got = snapshot->Take(); });
    for (uint32_t i = 5; i < 8; ++i) EXPECT_TRUE(job.session->Run(Inputs(Full(replicas), i), {}).ok());
    reader.join();
    ASSERT_TRUE(got.ok()) << got.status();
    for (int i = 0; i < 2; ++i) EXPECT_TRUE((*got)[i].BitEqual(want[i])) << i;
    EXPECT_FALSE(job.variables->Read("w")->BitEqual(want[0]));
  }
}

// A checkpoint is done while a collective's kernels have come to the first GPU and not yet to the second.
TEST_F(DeviceSnapshotTest, GivesNoMemoryBackWhileACollectiveStarts) {
  Job job = Start(2);
  ASSERT_TRUE(job.session->Run(Inputs(Full(2), 1), {}).ok());
  auto snapshot = job.variables->Snapshot({"w", "c"});
  ASSERT_TRUE(snapshot.ok()) << snapshot.status();
  std::thread writer;
  absl::Notification done;
  nccl.set_at_group_end([&] {
    if (writer.joinable()) return;
    writer = std::thread([&] {
      EXPECT_TRUE(snapshot->Take().ok());
      done.Notify();
    });
    done.WaitForNotificationWithTimeout(absl::Milliseconds(200));
  });
  EXPECT_TRUE(job.session->Run(Inputs(Full(2), 2), {}).ok());
  ASSERT_TRUE(writer.joinable());
  writer.join();
  nccl.set_at_group_end(nullptr);
}

TEST_F(DeviceSnapshotTest, GivesItsMemoryBack) {
  Job job = Start(1);
  ASSERT_TRUE(job.session->Run(Inputs(Full(1), 1), {}).ok());
  const uint64_t before = fake.AllocatedBytes(0);
  for (bool read : {true, false}) {
    {
      auto snapshot = job.variables->Snapshot({"w", "c"});
      ASSERT_TRUE(snapshot.ok());
      EXPECT_EQ(fake.AllocatedBytes(0), before + 512);
      if (read) {
        ASSERT_TRUE(snapshot->Take().ok());
        EXPECT_EQ(fake.AllocatedBytes(0), before);
      }
    }
    EXPECT_EQ(fake.AllocatedBytes(0), before);
  }
}

TEST_F(DeviceSnapshotTest, PinnedMemoryIsKeptForTheNext) {
  Job job = Start(1);
  ASSERT_TRUE(job.session->Run(Inputs(Full(1), 1), {}).ok());
  const std::vector<std::string> made = {"cuMemHostAlloc", "cuMemFreeHost", "cuStreamCreate", "cuStreamDestroy_v2"};
  auto take = [&](bool read) {
    fake.ClearCalls();
    const HostTensor want = *job.variables->Read("w");
    auto snapshot = job.variables->Snapshot({"w"});
    ASSERT_TRUE(snapshot.ok()) << snapshot.status();
    ASSERT_TRUE(job.session->Run(Inputs(Full(1), 2), {}).ok());
    if (!read) return;
    EXPECT_TRUE((*snapshot->Take())[0].BitEqual(want));
  };
  (void)*job.variables->Read("w");  // has a staging of its own
  take(true);
  EXPECT_EQ(absl::StrJoin(Names(fake, made), " "), "cuStreamCreate cuMemHostAlloc cuMemHostAlloc");
  for (bool read : {true, false, true}) {
    take(read);
    EXPECT_EQ(absl::StrJoin(Names(fake, made), " "), "");
  }
  // Two at once do not share it, and only one is kept.
  fake.ClearCalls();
  {
    auto first = job.variables->Snapshot({"w"}), second = job.variables->Snapshot({"w"});
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(Names(fake, {"cuMemHostAlloc"}).size(), 2);
  }
  EXPECT_EQ(Names(fake, {"cuMemFreeHost"}).size(), 2);
  // Where a copy failed others may be queued still: the next snapshot does not wait for those.
  {
    auto snapshot = job.variables->Snapshot({"w"});
    ASSERT_TRUE(snapshot.ok());
    fake.FailCall("cuMemcpyDtoHAsync_v2", kCudaLaunchFailed);
    EXPECT_FALSE(snapshot->Take().ok());
  }
  take(true);
  EXPECT_EQ(Names(fake, {"cuMemHostAlloc"}).size(), 2);
}

TEST_F(DeviceSnapshotTest, ErrorsComeFromWhereTheyHappen) {
  Job job = Start(1);
  ASSERT_TRUE(job.session->Run(Inputs(Full(1), 1), {}).ok());
  const uint64_t before = fake.AllocatedBytes(0);
  for (const char* call : {"cuMemGetInfo_v2", "cuMemAlloc_v2", "cuMemcpyDtoDAsync_v2", "cuStreamSynchronize"}) {
    fake.FailCall(call, kCudaLaunchFailed);
    const absl::Status status = job.variables->Snapshot({"w"}).status();
    EXPECT_TRUE(absl::StrContains(status.message(), absl::StrCat("gpu:0 (Fake GPU): ", call))) << status;
    EXPECT_EQ(fake.AllocatedBytes(0), before) << call;
  }
  auto snapshot = job.variables->Snapshot({"w"});
  ASSERT_TRUE(snapshot.ok());
  fake.FailCall("cuMemcpyDtoHAsync_v2", kCudaLaunchFailed);
  const absl::Status status = snapshot->Take().status();
  EXPECT_TRUE(absl::StrContains(status.message(), "gpu:0 (Fake GPU): cuMemcpyDtoHAsync_v2")) << status;
  EXPECT_EQ(fake.AllocatedBytes(0), before);
}

TEST_F(DeviceSnapshotTest, OnTheHostThereIsNothingToWaitFor) {
  VariableStore store(1);
  ASSERT_TRUE(store.Create({"w", DType::kFloat32, {kIn}}).ok());
  ASSERT_TRUE(store.Assign("w", Random({kIn}, 1)).ok());
  auto snapshot = store.Snapshot({"w"});
  ASSERT_TRUE(snapshot.ok());
  EXPECT_FALSE(snapshot->on_device());
  ASSERT_TRUE(store.Assign("w", Random({kIn}, 2)).ok());
  EXPECT_TRUE((*snapshot->Take())[0].BitEqual(Random({kIn}, 1)));
  EXPECT_EQ(store.Snapshot({"v"}).status().code(), absl::StatusCode::kNotFound);
}

// The model takes some 22 kB, most of it counters (kGpuCounters).
constexpr uint64_t kMemory = 24576;

class FullGpuTest : public CudaSessionTest {
 protected:
  FullGpuTest() : CudaSessionTest({.memory_bytes = kMemory}) {}
};

TEST_F(FullGpuTest, WithoutMemoryForACopyItIsReadAtOnce) {
  Job job = Start(1);
  ASSERT_NE(job.session, nullptr);
  ASSERT_TRUE(job.session->Run(Inputs(Full(1), 1), {}).ok());
  // Leaves a little: not a copy, or not what libraries may want.
  CUdeviceptr rest = 0;
  ASSERT_EQ(fake.api().cuMemAlloc_v2(&rest, kMemory - fake.AllocatedBytes(0) - 700), kCudaSuccess);
  const HostTensor want = *job.variables->Read("w");
  auto snapshot = job.variables->Snapshot({"w"});
  ASSERT_TRUE(snapshot.ok()) << snapshot.status();
  EXPECT_FALSE(snapshot->on_device());
  ASSERT_TRUE(job.session->Run(Inputs(Full(1), 2), {}).ok());
  EXPECT_TRUE((*snapshot->Take())[0].BitEqual(want));
  fake.api().cuMemFree_v2(rest);
}

}  // namespace
}  // namespace tandem
