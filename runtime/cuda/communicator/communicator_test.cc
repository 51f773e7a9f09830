// Communicators on the fake driver: values against the CPU's reduction tree, order of calls, races, and each way to
// fail.
#include "runtime/cuda/communicator/communicator.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/exit_code.h"
#include "gtest/gtest.h"
#include "runtime/collectives/reduction_tree.h"
#include "runtime/cuda/driver/memory_calls.h"
#include "runtime/cuda/testing/fake_driver.h"
#include "runtime/cuda/testing/fake_library_kernels.h"
#include "runtime/cuda/testing/fake_nccl.h"

namespace tandem {
namespace {

constexpr int64_t kElements = 300;

template <typename T>
std::vector<std::vector<T>> RandomInputs(int replicas, int64_t n) {
  std::vector<std::vector<T>> inputs(replicas, std::vector<T>(n));
  std::mt19937 rng(replicas);
  std::normal_distribution<double> normal(0, 1000);
  for (auto& input : inputs) {
    for (T& x : input) x = static_cast<T>(normal(rng));
  }
  return inputs;
}

// `replicas` streams and contexts: of one GPU, or of a GPU each.
class CommunicatorTest : public ::testing::Test {
 protected:
  void Start(int replicas, bool shared, bool tree_order = false) {
    fake = std::make_unique<FakeDriver>(FakeDriver::Options{.gpus = shared ? 1 : replicas});
    RegisterLibraryKernels(*fake);
    nccl = std::make_unique<FakeNccl>();
    for (int r = 0; r < replicas; ++r) {
      CommunicatorDevice device;
      device.ordinal = shared ? 0 : r;
      ASSERT_EQ(api().cuDevicePrimaryCtxRetain(&device.context, device.ordinal), 0);
      ASSERT_EQ(api().cuCtxSetCurrent(device.context), 0);
      devices.push_back(device);
      streams.emplace_back();
      ASSERT_EQ(api().cuStreamCreate(&streams.back(), kCudaStreamNonBlocking), 0);
    }
    absl::StatusOr<std::unique_ptr<Communicator>> made = MakeCommunicator(&fake->api(), devices, tree_order);
    ASSERT_TRUE(made.ok()) << made.status();
    communicator = *std::move(made);
  }

  void TearDown() override {
    fake->Drain();
    communicator.reset();
    for (const auto& [address, replica] : memory) {
      api().cuCtxSetCurrent(devices[replica].context);
      api().cuMemFree_v2(address);
    }
    for (size_t r = 0; r < streams.size(); ++r) {
      api().cuCtxSetCurrent(devices[r].context);
      api().cuStreamDestroy_v2(streams[r]);
    }
    for (const CommunicatorDevice& d : devices) api().cuDevicePrimaryCtxRelease_v2(d.ordinal);
    // Memory of work that never ends is freed while it is in use, and what is left alone is left.
    if (!hangs) {
      EXPECT_EQ(absl::StrJoin(fake->TakeViolations(), "; "), "");
    }
    EXPECT_EQ(absl::StrJoin(nccl->TakeViolations(), "; "), "");
    EXPECT_EQ(nccl->live_communicators(), 0);
  }

  const DriverApi& api() { return fake->api(); }

  CUdeviceptr Allocate(int replica, uint64_t bytes) {
    CUdeviceptr address = 0;
    api().cuCtxSetCurrent(devices[replica].context);
    EXPECT_EQ(api().cuMemAlloc_v2(&address, bytes), 0);
    memory.push_back({address, replica});
    return address;
  }

  // A buffer per replica with its values, written by earlier work of the replica's stream.
  template <typename T>
  CollectiveTensor Upload(const std::vector<std::vector<T>>& inputs, DType dtype) {
    CollectiveTensor t;
    t.dtype = dtype;
    t.elements = inputs[0].size();
    for (size_t r = 0; r < inputs.size(); ++r) {
      const uint64_t bytes = inputs[r].size() * sizeof(T);
      t.buffers.push_back(Allocate(r, std::max<uint64_t>(bytes, 1)));
      EXPECT_EQ(fake->Enqueue(streams[r], "produce", {{t.buffers[r], bytes, true}},
                              [to = t.buffers[r], data = inputs[r], bytes] {
                                if (bytes > 0) std::memcpy(reinterpret_cast<void*>(to), data.data(), bytes);
                              }),
                0);
    }
    return t;
  }

  // Waits and compares every replica's buffer; reads on the replica's own stream.
  template <typename T>
  void ExpectAll(absl::Span<const CUdeviceptr> buffers, const std::vector<std::vector<T>>& want, bool exact) {
    for (size_t r = 0; r < buffers.size(); ++r) {
      api().cuCtxSetCurrent(devices[r].context);
      ASSERT_EQ(fake->Enqueue(streams[r], "consume", {{buffers[r], want[r].size() * sizeof(T), false}}, [] {}), 0);
    }
    const absl::Status waited = communicator->Wait(streams, 10, "a collective");
    ASSERT_TRUE(waited.ok()) << waited;
    for (size_t r = 0; r < buffers.size(); ++r) {
      const T* got = reinterpret_cast<const T*>(buffers[r]);
      for (size_t i = 0; i < want[r].size(); ++i) {
        if (exact) {
          ASSERT_EQ(got[i], want[r][i]) << "replica " << r << " element " << i;
        } else {
          ASSERT_NEAR(got[i], want[r][i], 1e-2) << "replica " << r << " element " << i;
        }
      }
    }
  }

  // All kinds, for all and for some replicas, against TreeReduce.
  template <typename T>
  void CheckAllReduce(DType dtype, bool mean, int64_t elements = kElements) {
    const int n = communicator->replicas();
    std::vector<format::ReduceKind> kinds = {format::ReduceKind::kSum, format::ReduceKind::kMax};
    if (mean) kinds.push_back(format::ReduceKind::kMean);
    for (format::ReduceKind kind : kinds) {
      for (int absent = -1; absent < n; ++absent) {
        if (absent >= 0 && n == 1) continue;
        const auto inputs = RandomInputs<T>(n, elements);
        std::vector<bool> present(n);
        std::vector<const void*> leaves(n);
        for (int r = 0; r < n; ++r) {
          present[r] = r != absent;
          leaves[r] = present[r] ? inputs[r].data() : nullptr;
        }
        std::vector<T> want(elements);
        TreeReduce(kind, dtype, leaves, want.data(), elements);
        const CollectiveTensor t = Upload(inputs, dtype);
        const absl::Status status = communicator->AllReduce(kind, {&t, 1}, present, streams);
        ASSERT_TRUE(status.ok()) << status;
        const bool exact = communicator->tree_order() || kind == format::ReduceKind::kMax || !mean;
        ExpectAll<T>(t.buffers, std::vector<std::vector<T>>(n, want), exact);
      }
    }
  }

  std::unique_ptr<FakeDriver> fake;
  std::unique_ptr<FakeNccl> nccl;
  std::vector<CommunicatorDevice> devices;
  std::vector<CUstream> streams;
  std::vector<std::pair<CUdeviceptr, int>> memory;
  std::unique_ptr<Communicator> communicator;
  bool hangs = false;
};

class AllReduceTest : public CommunicatorTest, public ::testing::WithParamInterface<std::pair<int, bool>> {};

TEST_P(AllReduceTest, MatchesTheReductionTree) {
  const auto [replicas, shared] = GetParam();
  Start(replicas, shared);
  EXPECT_STREQ(communicator->name(), shared || replicas == 1 ? "local" : "NCCL");
  EXPECT_EQ(communicator->tree_order(), shared || replicas <= 2);
  CheckAllReduce<float>(DType::kFloat32, true);
  CheckAllReduce<double>(DType::kFloat64, true);
  CheckAllReduce<int32_t>(DType::kInt32, false);
  CheckAllReduce<int64_t>(DType::kInt64, false);
}

INSTANTIATE_TEST_SUITE_P(Replicas, AllReduceTest,
                         ::testing::Values(std::pair{1, true}, std::pair{2, true}, std::pair{3, true},
                                           std::pair{4, true}, std::pair{2, false}, std::pair{3, false},
                                           std::pair{4, false}));

class TreeOrderTest : public CommunicatorTest, public ::testing::WithParamInterface<int> {};

// Tensors that are sent whole, those that are cut, and a few elements for the last replicas' parts, or none.
TEST_P(TreeOrderTest, SumsHaveTheTreesBits) {
  Start(GetParam(), false, /*tree_order=*/true);
  EXPECT_TRUE(communicator->tree_order());
  for (int64_t elements : {1, 5, 300, 4096, 4097, 10000}) {
    SCOPED_TRACE(elements);
    CheckAllReduce<float>(DType::kFloat32, true, elements);
    CheckAllReduce<double>(DType::kFloat64, true, elements);
    CheckAllReduce<int32_t>(DType::kInt32, false, elements);
    CheckAllReduce<int64_t>(DType::kInt64, false, elements);
  }
}

INSTANTIATE_TEST_SUITE_P(Replicas, TreeOrderTest, ::testing::Values(2, 3, 4, 5, 8));

// More than the workspaces hold, in one tensor and in many, of which some are empty.
TEST_F(CommunicatorTest, TreeOrderOfLargeBuckets) {
  Start(3, false, /*tree_order=*/true);
  std::vector<int64_t> lengths = {0, (5 << 20) + 7};
  for (int64_t i = 0; i < 200; ++i) lengths.push_back(i * 97 % 9000);
  std::vector<CollectiveTensor> tensors;
  std::vector<std::vector<float>> want;
  for (int64_t n : lengths) {
    const auto inputs = RandomInputs<float>(3, n);
    std::vector<const void*> leaves;
    for (const auto& input : inputs) leaves.push_back(input.data());
    want.emplace_back(n);
    TreeReduce(format::ReduceKind::kSum, DType::kFloat32, leaves, want.back().data(), n);
    tensors.push_back(Upload(inputs, DType::kFloat32));
  }
  const absl::Status status = communicator->AllReduce(format::ReduceKind::kSum, tensors, {true, true, true}, streams);
  ASSERT_TRUE(status.ok()) << status;
  for (size_t i = 0; i < tensors.size(); ++i) {
    ExpectAll<float>(tensors[i].buffers, std::vector<std::vector<float>>(3, want[i]), true);
  }
}

TEST_F(CommunicatorTest, AFailedSendEndsTheGroup) {
  Start(3, false, /*tree_order=*/true);
  const CollectiveTensor t = Upload(RandomInputs<float>(3, 4), DType::kFloat32);
  nccl->FailCall("ncclSend", nccl::kRemoteError, 3);
  const absl::Status status = communicator->AllReduce(format::ReduceKind::kSum, {&t, 1}, {true, true, true}, streams);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(absl::StrContains(status.message(), "NCCL cannot enqueue the all-reduce in tree order of replica 1"))
      << status;
  EXPECT_EQ(nccl->TakeCalls().back(), "ncclGroupEnd");
  nccl->TakeViolations();  // the fake's group was short of receives
}

TEST_F(CommunicatorTest, ABucketIsOneGroup) {
  Start(2, false);
  const CollectiveTensor tensors[] = {Upload(RandomInputs<float>(2, 4), DType::kFloat32),
                                      Upload(RandomInputs<float>(2, 7), DType::kFloat32)};
  const std::vector<bool> present = {true, true};
  nccl->TakeCalls();
  const absl::Status status = communicator->AllReduce(format::ReduceKind::kSum, tensors, present, streams);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(absl::StrJoin(nccl->TakeCalls(), ", "),
            "ncclGroupStart, ncclAllReduce 0 4, ncclAllReduce 0 7, ncclAllReduce 1 4, ncclAllReduce 1 7, ncclGroupEnd");
}

TEST_F(CommunicatorTest, AFailedCallStillEndsTheGroup) {
  Start(2, false);
  const CollectiveTensor t = Upload(RandomInputs<float>(2, 4), DType::kFloat32);
  const std::vector<bool> present = {true, true};
  nccl->FailCall("ncclAllReduce", nccl::kSystemError, 2);
  const absl::Status status = communicator->AllReduce(format::ReduceKind::kSum, {&t, 1}, present, streams);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(absl::StrContains(status.message(), "NCCL cannot enqueue the all-reduce of replica 1 (gpu:1)")) << status;
  EXPECT_EQ(nccl->TakeCalls().back(), "ncclGroupEnd");
  nccl->TakeViolations();  // the fake's group was short of a rank
}

TEST_F(CommunicatorTest, AnAsynchronousErrorAborts) {
  Start(2, false);
  const CollectiveTensor t = Upload(RandomInputs<float>(2, 4), DType::kFloat32);
  const std::vector<bool> present = {true, true};
  ASSERT_TRUE(communicator->AllReduce(format::ReduceKind::kSum, {&t, 1}, present, streams).ok());
  EXPECT_TRUE(communicator->Poll().ok());
  nccl->SetAsyncError(1, nccl::kRemoteError);
  const absl::Status status = communicator->Wait(streams, 10, "the all-reduce of bucket 0");
  EXPECT_EQ(ExitCodeFor(status), kExitTemporary);
  EXPECT_EQ(status.message(),
            "a collective failed on replica 1 (gpu:1): NCCL says remote process exited or there was a network error");
  EXPECT_EQ(nccl->live_communicators(), 0);
  // Nothing can follow, and says so.
  EXPECT_EQ(communicator->AllReduce(format::ReduceKind::kSum, {&t, 1}, present, streams).message(),
            "the communicator was aborted");
}

TEST_F(CommunicatorTest, AHungCollectiveMeetsItsDeadline) {
  Start(2, false);
  const CollectiveTensor t = Upload(RandomInputs<float>(2, 4), DType::kFloat32);
  const std::vector<bool> present = {true, true};
  fake->Hang(1);
  hangs = true;
  ASSERT_TRUE(communicator->AllReduce(format::ReduceKind::kSum, {&t, 1}, present, streams).ok());
  const absl::Status status = communicator->Wait(streams, 0.02, "the all-reduce of bucket 0");
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(ExitCodeFor(status), kExitTemporary);
  EXPECT_EQ(status.message(),
            "the all-reduce of bucket 0 did not end within 0.02 seconds: replica 0 (gpu:0), replica 1 (gpu:1) have not "
            "finished");
  EXPECT_EQ(nccl->live_communicators(), 0);
}

// NCCL gives memory back when it aborts, and waits for the GPU that hangs.
TEST_F(CommunicatorTest, AnAbortThatDoesNotReturnIsLeftAlone) {
  Start(3, false, /*tree_order=*/true);
  const CollectiveTensor t = Upload(RandomInputs<float>(3, 4), DType::kFloat32);
  fake->Hang(1);
  hangs = true;
  nccl->BlockAborts();
  ASSERT_TRUE(communicator->AllReduce(format::ReduceKind::kSum, {&t, 1}, {true, true, true}, streams).ok());
  EXPECT_EQ(communicator->Wait(streams, 0.02, "a step").code(), absl::StatusCode::kDeadlineExceeded);
  fake->ClearCalls();
  communicator.reset();
  EXPECT_EQ(fake->CountCalls("cuMemFree_v2") + fake->CountCalls("cuModuleUnload"), 0);
  nccl->ReleaseAborts();
  while (nccl->live_communicators() > 0) absl::SleepFor(absl::Milliseconds(1));
}

// Another thread gives memory back, which waits for a GPU that hangs.
TEST_F(CommunicatorTest, ACallForMemoryThatDoesNotReturnMeetsTheDeadline) {
  Start(2, false);
  hangs = true;
  communicator->set_deadline_seconds(0.05);
  const CollectiveTensor t = Upload(RandomInputs<float>(2, 4), DType::kFloat32);
  absl::Notification in_call, over;
  std::thread other([&] {
    std::lock_guard lock(MemoryCallsMutex());
    in_call.Notify();
    over.WaitForNotification();
  });
  in_call.WaitForNotification();
  const absl::Status status = communicator->AllReduce(format::ReduceKind::kSum, {&t, 1}, {true, true}, streams);
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
  EXPECT_EQ(ExitCodeFor(status), kExitTemporary);
  EXPECT_EQ(nccl->live_communicators(), 0);
  over.Notify();
  other.join();
}

TEST_F(CommunicatorTest, AConnectionThatFailsIsAnError) {
  Start(2, false);
  nccl->FailCall("ncclCommInitAll", nccl::kSystemError);
  const absl::Status status = MakeNcclCommunicator(&fake->api(), devices, false).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(), "NCCL cannot connect gpu:0, gpu:1: unhandled system error");
}

TEST_F(CommunicatorTest, BadListsAreErrors) {
  Start(2, false);
  CollectiveTensor t = Upload(RandomInputs<float>(2, 4), DType::kFloat32);
  const std::vector<bool> none = {false, false}, all = {true, true};
  auto message = [&](format::ReduceKind kind, const std::vector<bool>& present, absl::Span<const CUstream> s) {
    return std::string(communicator->AllReduce(kind, {&t, 1}, present, s).message());
  };
  EXPECT_EQ(message(format::ReduceKind::kSum, none, streams), "an all-reduce needs a replica that has rows");
  EXPECT_EQ(message(format::ReduceKind::kSum, all, absl::MakeSpan(streams).first(1)),
            "a collective of 2 replicas got 1 streams");
  t.dtype = DType::kUInt8;
  EXPECT_EQ(message(format::ReduceKind::kSum, all, streams), "an all-reduce cannot compute the Sum of uint8 on GPUs");
  t.buffers.pop_back();
  EXPECT_EQ(message(format::ReduceKind::kSum, all, streams), "a collective of 2 replicas got a tensor with 1 buffers");
}

TEST_F(CommunicatorTest, SomeReplicasOnOneGpuAreRejected) {
  Start(2, false);
  std::vector<CommunicatorDevice> mixed = {devices[0], devices[1], devices[1]};
  EXPECT_EQ(MakeCommunicator(&fake->api(), mixed, false).status().message(),
            "3 replicas on 2 GPUs: give every replica a GPU of its own, or all of them the same one");
}

}  // namespace
}  // namespace tandem
