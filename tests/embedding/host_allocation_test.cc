// Allocations that fail in programs with a main function of their own. Each ends in a status, after which the program
// goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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

constexpr int64_t kPlaces = 60;  // that are tried of each work
constexpr unsigned kMostSeconds = 60;

// How a child ended.
enum Ending { kWrong = 10, kUnharmed, kStatus };

class HostAllocationTest : public ::testing::Test {
 protected:
  HostAllocationTest() { SetMinLogSeverity(LogSeverity::kError); }
  ~HostAllocationTest() override { SetMinLogSeverity(LogSeverity::kInfo); }

  static RunConfig ConfigOf(const std::string& dir) {
    return {.model_dir = dir, .save_checkpoints_steps = 1, .save_summary_steps = 0, .threads = 2};
  }

  // What a child does: makes what it needs, and returns a function in which allocations fail.
  using Work = std::function<absl::Status()>;
  using Prepare = std::function<Work()>;

  // Does the work with a failed allocation at each of some places, in a process each, which then does it again.
  void TryPlaces(const Prepare& prepare) {
    ASSERT_FALSE(OwnsProcess());
    auto* count = static_cast<int64_t*>(
        mmap(nullptr, sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    ASSERT_EQ(InChild(0, prepare, count), kUnharmed);
    ASSERT_GT(*count, 10);
    const int64_t all = *count;
    int statuses = 0, ended = 0;
    for (int64_t i = 0; i < kPlaces; ++i) {
      const int64_t place = 1 + i * all / kPlaces;
      const int ending = InChild(place, prepare, count);
      EXPECT_NE(ending, kWrong) << "allocation " << place << " of " << all;
      statuses += ending == kStatus ? 1 : 0;
      ended += ending < kWrong ? 1 : 0;
    }
    munmap(count, sizeof(int64_t));
    std::printf("%lld places of %lld: %d statuses, %d processes ended\n", static_cast<long long>(kPlaces),
                static_cast<long long>(all), statuses, ended);
    EXPECT_GT(statuses, 0);
    // Some libraries end a process without memory (docs/developers/sanitizers.md): the one for JSON takes some in a
    // destructor.
    EXPECT_LT(ended, kPlaces / 10);
  }

 private:
  static int InChild(int64_t place, const Prepare& prepare, int64_t* count) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      alarm(kMostSeconds);
      const Work work = prepare();
      const absl::Status before = work();
      FailAllocation(place);
      const absl::Status failed = work();
      *count = StopFailingAllocations();
      const absl::Status after = work();
      const bool right = before.ok() && (failed.ok() || absl::IsResourceExhausted(failed)) && after.ok();
      if (!right)
        std::fprintf(stderr, "%s, %s, %s\n", before.ToString().c_str(), failed.ToString().c_str(),
                     after.ToString().c_str());
      _exit(!right ? kWrong : failed.ok() ? kUnharmed : kStatus);
    }
    int state = 0;
    waitpid(child, &state, 0);
    return WIFEXITED(state) ? WEXITSTATUS(state) : 0;
  }
};

TEST_F(HostAllocationTest, ModelsAreLoadedAndPredict) {
  std::string path;
  {
    Estimator estimator(test::LineModel, ConfigOf(test::ModelDir()));
    ASSERT_EQ(estimator.Train(test::LineInput(), {.steps = 1}), absl::OkStatus());
    const auto exported =
        estimator.ExportModel(estimator.model_dir() + "/exports", {.features = {{"x", DType::kFloat32, {kBatch, 2}}}});
    ASSERT_TRUE(exported.ok()) << exported.status();
    path = *exported;
  }
  TryPlaces([&]() -> Work {
    const NamedTensors points = {{"x", HostTensor::FromVector<float>({2, 2}, {0.5f, 0.25f, 0.125f, 0.75f})}};
    return [&path, points]() -> absl::Status {
      TD_ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, LoadModel(path, {.threads = 2}));
      return model->Predict(points).status();
    };
  });
}

TEST_F(HostAllocationTest, StepsAreMadeAndSaved) {
  const std::string dir = test::ModelDir();
  TryPlaces([&]() -> Work {
    const auto estimator = std::make_shared<Estimator>(test::LineModel, ConfigOf(dir));
    const InputFn input = test::LineInput();
    const TrainOptions options = {.steps = 1};
    return [=] { return estimator->Train(input, options); };
  });
}

TEST_F(HostAllocationTest, Evaluations) {
  const std::string dir = test::ModelDir();
  ASSERT_EQ(Estimator(test::LineModel, ConfigOf(dir)).Train(test::LineInput(), {.steps = 1}), absl::OkStatus());
  TryPlaces([&]() -> Work {
    const auto estimator = std::make_shared<Estimator>(test::LineModel, ConfigOf(dir));
    const InputFn input = test::LineInput(16, 8, 1);
    return [=] { return estimator->Evaluate(input).status(); };
  });
}

// The compiler is not entered where it has too little memory, and can be when it has more.
TEST_F(HostAllocationTest, TheCompilerNeedsMemory) {
  Estimator estimator(test::LineModel, ConfigOf(test::ModelDir()));
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const rlimit tight = {static_cast<rlim_t>(pages) * 4096 + (size_t{100} << 20), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
  const absl::Status refused = estimator.Train(test::LineInput(), {.steps = 1});
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("the compiler needs 128 MiB"));
  EXPECT_EQ(estimator.Train(test::LineInput(), {.steps = 1}), absl::OkStatus());
}

}  // namespace
}  // namespace tandem
