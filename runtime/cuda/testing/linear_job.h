// A small program for GPUs on the fake driver, as the tests of the session use it.
#ifndef TANDEM_RUNTIME_CUDA_TESTING_LINEAR_JOB_H_
#define TANDEM_RUNTIME_CUDA_TESTING_LINEAR_JOB_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "base/exit_code.h"
#include "gtest/gtest.h"
#include "runtime/cuda/run/cuda_device_class.h"
#include "runtime/cuda/testing/fake_driver.h"
#include "runtime/cuda/testing/fake_nccl.h"
#include "runtime/session/session.h"

namespace tandem {

constexpr int kIn = 3, kRows = 8;  // rows of all replicas

enum Output { kLoss, kPrediction, kRow, kMax, kTable, kNumOutputs };
inline const std::vector<int> kAll = {kLoss, kPrediction, kRow, kMax, kTable};

// Returns a linear model y = x w + c with squared error, its update, the number of each row, the largest x, and sums of
// x by an index.
std::shared_ptr<const Executable> LinearModel(int replicas, const std::vector<int>& sms = {75, 90}, bool groups = true);
// Registers its kernels, and the built-in ones.
void RegisterLinearKernels(FakeDriver& driver);

HostTensor Random(Shape shape, uint32_t seed);
// Returns inputs with `rows` rows for each replica. A replica's values begin where they do in a full batch.
StepInputs Inputs(const std::vector<int64_t>& rows, uint32_t seed);
inline std::vector<int64_t> Full(int replicas) { return std::vector<int64_t>(replicas, kRows / replicas); }

struct Job {
  std::shared_ptr<VariableStore> variables;
  std::unique_ptr<Session> session;
};

class CudaSessionTest : public ::testing::Test {
 protected:
  explicit CudaSessionTest(FakeDriver::Options options = {.gpus = 4}) : fake(options) { RegisterLinearKernels(fake); }
  ~CudaSessionTest() override {
    EXPECT_EQ(absl::StrJoin(fake.TakeViolations(), "; "), "");
    EXPECT_EQ(absl::StrJoin(nccl.TakeViolations(), "; "), "");
    EXPECT_EQ(nccl.live_communicators(), 0);
  }

  Job Start(int replicas, Session::Options options = {}) {
    Job job;
    job.variables = std::make_shared<VariableStore>(replicas);
    options.pool = std::make_shared<ThreadPool>(2);
    auto session = Session::Create(CudaDeviceClass(), LinearModel(replicas), job.variables, options);
    EXPECT_TRUE(session.ok()) << session.status();
    if (session.ok()) job.session = *std::move(session);
    EXPECT_TRUE(job.variables->Assign("w", Random({kIn}, 1)).ok());
    EXPECT_TRUE(job.variables->Assign("c", Random({}, 2)).ok());
    return job;
  }

  absl::Status CreateError(int replicas, std::shared_ptr<VariableStore> store = nullptr,
                           const std::vector<int>& sms = {75, 90}) {
    if (store == nullptr) store = std::make_shared<VariableStore>(replicas);
    return Session::Create(CudaDeviceClass(), LinearModel(replicas, sms), store,
                           {.pool = std::make_shared<ThreadPool>(1)})
        .status();
  }

  void ExpectError(const absl::Status& status, int exit_code, const std::string& part) {
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(ExitCodeFor(status), exit_code) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), part)) << status;
  }

  FakeDriver fake;
  FakeNccl nccl;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_TESTING_LINEAR_JOB_H_
