// Allocations that fail in a program with a main function of its own: this one. Each ends in a status, and the program
// goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/owned_process.h"
#include "base/status_macros.h"
#include "estimator/estimator.h"
#include "estimator/serving/model.h"
#include "estimator/test_models.h"
#include "tests/allocation/failing_allocation.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kPlaces = 150;  // that are tried of each work

HostTensor Points() { return HostTensor::FromVector<float>({2, 2}, {0.5f, 0.25f, 0.125f, 0.75f}); }

class HostAllocationTest : public ::testing::Test {
 protected:
  HostAllocationTest() : estimator_(test::LineModel, ConfigOf(test::ModelDir())) {
    SetMinLogSeverity(LogSeverity::kError);
  }
  ~HostAllocationTest() override { SetMinLogSeverity(LogSeverity::kInfo); }

  static RunConfig ConfigOf(const std::string& dir) {
    return {.model_dir = dir, .save_checkpoints_steps = 1, .save_summary_steps = 0, .threads = 2};
  }

  absl::Status Train() { return estimator_.Train(test::LineInput(), {.steps = 1}); }
  absl::Status Evaluate() { return estimator_.Evaluate(test::LineInput(16, 8, 1)).status(); }

  // Does `work` without a failure, then with one at each of some places. After each, this process does `work` again.
  static void TryPlaces(const std::function<absl::Status()>& work) {
    ASSERT_FALSE(OwnsProcess());
    ASSERT_EQ(work(), absl::OkStatus());
    FailAllocation(0);
    ASSERT_EQ(work(), absl::OkStatus());
    const int64_t count = StopFailingAllocations();
    ASSERT_GT(count, 10);
    int statuses = 0;
    for (int64_t i = 0; i < kPlaces; ++i) {
      const int64_t place = 1 + i * count / kPlaces;
      SCOPED_TRACE(absl::StrCat("allocation ", place, " of ", count));
      FailAllocation(place);
      const absl::Status status = work();
      StopFailingAllocations();
      EXPECT_TRUE(status.ok() || absl::IsResourceExhausted(status)) << status;
      statuses += status.ok() ? 0 : 1;
      ASSERT_EQ(work(), absl::OkStatus()) << "after " << status;
    }
    EXPECT_GT(statuses, kPlaces / 4);
    std::printf("%lld places of %lld: %d statuses\n", static_cast<long long>(kPlaces), static_cast<long long>(count),
                statuses);
  }

  Estimator estimator_;
};

TEST_F(HostAllocationTest, ModelsAreLoadedAndPredict) {
  ASSERT_EQ(Train(), absl::OkStatus());
  const absl::StatusOr<std::string> path =
      estimator_.ExportModel(estimator_.model_dir() + "/exports", {.features = {{"x", DType::kFloat32, {kBatch, 2}}}});
  ASSERT_TRUE(path.ok()) << path.status();
  TryPlaces([&]() -> absl::Status {
    TD_ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, LoadModel(*path, {.threads = 2}));
    return model->Predict({{"x", Points()}}).status();
  });
}

TEST_F(HostAllocationTest, StepsAreMadeAndSaved) {
  TryPlaces([&] { return Train(); });
}

TEST_F(HostAllocationTest, Evaluations) {
  ASSERT_EQ(Train(), absl::OkStatus());
  TryPlaces([&] { return Evaluate(); });
}

// The compiler is not entered where it has too little memory, and can be when it has more.
TEST_F(HostAllocationTest, TheCompilerNeedsMemory) {
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const rlimit tight = {static_cast<rlim_t>(pages) * 4096 + (size_t{100} << 20), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
  const absl::Status refused = Train();
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("the compiler needs 128 MiB"));
  EXPECT_EQ(Train(), absl::OkStatus());
}

}  // namespace
}  // namespace tandem
