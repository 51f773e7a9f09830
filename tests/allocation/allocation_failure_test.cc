// Lets every n-th allocation fail while a small model is compiled, trained, saved, restored, evaluated, loaded and run:
// each time in a process of its own, which must end with a status or exit code 74, and damage nothing that is saved.
//
// A run tries some 100 places of each part. TANDEM_ALLOCATIONS=all tries every one, TANDEM_ALLOCATIONS=1000 so many,
// and TANDEM_ALLOCATION=17 the 17th alone. With TANDEM_TRACE_ALLOCATION=1 a process prints where what fails was asked
// for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "estimator/mode_program.h"
#include "estimator/test_models.h"
#include "runtime/run.h"
#include "tests/allocation/failing_allocation.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

// The part of a child's work in which allocations fail.
using Armed = std::function<absl::Status(const std::function<absl::Status()>&)>;
// What a child does, with what is to fail behind `armed`.
using Work = std::function<absl::Status(const Armed& armed)>;

struct Report {  // in memory that parent and child share
  int64_t allocations = 0;
  char message[300] = "";
};

class AllocationFailureTest : public ::testing::Test {
 protected:
  AllocationFailureTest() {
    report_ =
        static_cast<Report*>(mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    root_ = fs::path(::testing::TempDir()) / ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(root_);
    fs::create_directories(root_);
    // A trained model: a child's work, so that this process stays one thread.
    EXPECT_EQ(InChild(0, false, [&](const Armed&) { return Train(Trained(), 2); }), 0) << report_->message;
    for (const auto& entry : fs::directory_iterator(Trained() / "compiled")) {
      if (entry.path().extension() == ".tdx" && entry.path().filename().string().starts_with("train")) {
        executable_ = entry.path();
      }
    }
  }
  ~AllocationFailureTest() override {
    munmap(report_, sizeof(Report));
    fs::remove_all(root_);
  }

  fs::path Trained() const { return root_ / "trained"; }
  fs::path Scratch() const { return root_ / "scratch"; }

  static absl::Status Train(const fs::path& dir, int64_t max_steps) {
    RunConfig config = test::Config(dir.string());
    config.seed = 7;
    config.save_checkpoints_steps = 1;
    Estimator estimator(test::LineModel, config);
    return estimator.Train(test::LineInput(), {.max_steps = max_steps});
  }

  // The exit code of a child in which allocation n of what is armed fails; 128 + the signal that ended it.
  int InChild(int64_t n, bool sticky, const Work& work) {
    *report_ = Report();
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);  // a guard against hanging
      const std::string log = (root_ / "log").string();
      if (std::freopen(log.c_str(), "w", stderr) == nullptr) _exit(99);
      _exit(RunMain("allocation_failure_test", [&] {
        const absl::Status status = work([&](const std::function<absl::Status()>& armed) {
          FailAllocation(n, sticky);
          absl::Status result = armed();
          report_->allocations = StopFailingAllocations();
          return result;
        });
        StopFailingAllocations();
        std::snprintf(report_->message, sizeof(report_->message), "%s", status.ToString().c_str());
        return ExitCodeFor(status);
      }));
    }
    int state = 0;
    waitpid(child, &state, 0);
    return WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
  }

  std::string Log() const {
    auto text = Env::Default()->ReadFile((root_ / "log").string());
    return text.ok() ? text->substr(text->size() - std::min<size_t>(text->size(), 6000)) : "";
  }

  // The places to try of `count`: all, or the first and the last ones, and so many that are spread evenly from a place
  // that `count` gives.
  static constexpr int64_t kFirstPlaces = 32, kLastPlaces = 64;
  static std::set<int64_t> Places(int64_t count) {
    const char* wanted = std::getenv("TANDEM_ALLOCATIONS");
    if (const char* one = std::getenv("TANDEM_ALLOCATION")) return {std::atoll(one)};
    const bool all = wanted != nullptr && std::strcmp(wanted, "all") == 0;
    const int64_t n = all ? count : std::min<int64_t>(count, wanted != nullptr ? std::atoll(wanted) : 40);
    std::set<int64_t> places;
    for (int64_t i = 0; i < n; ++i) places.insert(1 + i * count / n + (count / n) * (count % 97) / 97);
    // What a run writes at its end takes few allocations, which a sample would miss.
    for (int64_t i = std::max<int64_t>(1, count - kLastPlaces + 1); i <= count; ++i) places.insert(i);
    for (int64_t i = 1; i <= std::min(count, kFirstPlaces); ++i) places.insert(i);
    return places;
  }

  // Runs `work` without failures, then with one at each place, and with all allocations failing from some places on.
  // `check` looks at what a child left.
  void TryAll(
      const std::string& what, const Work& work, const std::function<void()>& check = [] {}) {
    ASSERT_EQ(InChild(0, false, work), 0) << what << ": " << report_->message << Log();
    const int64_t allocations = report_->allocations;
    ASSERT_GT(allocations, 10) << what;
    int tried = 0, statuses = 0, exits = 0, unharmed = 0;
    for (const int64_t n : Places(allocations)) {
      for (bool sticky : {false, true}) {
        if (sticky && tried % 8 != 0) continue;
        const int code = InChild(n, sticky, work);
        ++tried;
        const std::string message = report_->message;
        (code == 0 ? unharmed : message.empty() ? exits : statuses) += 1;
        EXPECT_TRUE(code == 0 || code == kExitIo)
            << what << ": allocation " << n << " of " << allocations << (sticky ? " and all behind it" : "")
            << " fails: exit code " << code << ", " << message << "\n"
            << Log();
        if (code == kExitIo && message.empty()) {
          ASSERT_THAT(Log(), ::testing::HasSubstr("allocation_failure_test: ")) << what << ": allocation " << n;
        } else if (code == kExitIo) {
          ASSERT_THAT(message, ::testing::HasSubstr("RESOURCE_EXHAUSTED: ")) << what << ": allocation " << n;
        }
        check();
      }
    }
    std::printf("%s: %d tried of %lld allocations: %d statuses, %d ends with exit code 74, %d went on\n", what.c_str(),
                tried, static_cast<long long>(allocations), statuses, exits, unharmed);
    RecordProperty(what + "_tried", tried);
  }

  void Refresh() {
    fs::remove_all(Scratch());
    fs::copy(Trained(), Scratch(), fs::copy_options::recursive);
  }

  // The newest checkpoint of the scratch directory restores, and is of one of `steps`.
  void CheckCheckpoint(const std::set<int64_t>& steps) {
    CheckpointManager manager(Env::Default(), Scratch().string());
    auto latest = manager.LatestCheckpoint();
    ASSERT_TRUE(latest.ok()) << latest.status();
    if (!latest->has_value()) {
      ASSERT_TRUE(steps.contains(0));
      return;
    }
    auto data = manager.Restore(**latest);
    ASSERT_TRUE(data.ok()) << data.status();
    ASSERT_TRUE(steps.contains(data->global_step)) << data->global_step;
    for (const auto& entry : fs::directory_iterator(Scratch())) {
      ASSERT_EQ(entry.path().string().find(".damaged"), std::string::npos) << entry.path();
    }
  }

  Report* report_;
  fs::path root_, executable_;
};

TEST_F(AllocationFailureTest, LoadAndRun) {
  ASSERT_FALSE(executable_.empty());
  const auto run = [&](LoadedExecutable& model) -> absl::Status {
    const HostTensor x = HostTensor::Zeros(DType::kFloat32, {8, 2}), y = HostTensor::Zeros(DType::kFloat32, {8, 1});
    return tandem::Run(model, {{"x", x}, {"label", y}}, {{"learning_rate", 0.1}}).status();
  };
  TryAll("load", [&](const Armed& armed) {
    return armed([&]() -> absl::Status { return LoadExecutable(executable_.string(), {.threads = 2}).status(); });
  });
  TryAll("step", [&](const Armed& armed) -> absl::Status {
    TD_ASSIGN_OR_RETURN(auto model, LoadExecutable(executable_.string(), {.threads = 2}));
    return armed([&] { return run(*model); });
  });
}

TEST_F(AllocationFailureTest, CompileTrainAndSave) {
  TryAll(
      "compile, train and save",
      [&](const Armed& armed) {
        fs::remove_all(Scratch());
        return armed([&] { return Train(Scratch(), 1); });
      },
      [&] {
        if (fs::exists(Scratch())) CheckCheckpoint({0, 1});
      });
}

// What a hook fetches becomes an output of the graph, behind model_fn and in front of the compiler.
TEST_F(AllocationFailureTest, FetchAndCompile) {
  TryAll("fetch and compile", [&](const Armed& armed) -> absl::Status {
    TD_ASSIGN_OR_RETURN(const Dataset dataset, test::LineInput()(InputContext()));
    TD_ASSIGN_OR_RETURN(auto program,
                        ModeProgram::Build(test::LineModel, Mode::kTrain, Params(), dataset.spec(), "label", {}));
    return armed([&] { return program->Compile({{"dense/MatMul", "a hook"}}, CompileOptions()); });
  });
}

TEST_F(AllocationFailureTest, RestoreTrainAndSave) {
  TryAll(
      "restore, train and save",
      [&](const Armed& armed) {
        Refresh();
        return armed([&] { return Train(Scratch(), 4); });
      },
      [&] {
        CheckCheckpoint({2, 3, 4});
      });
}

TEST_F(AllocationFailureTest, Save) {
  TryAll(
      "save",
      [&](const Armed& armed) -> absl::Status {
        Refresh();
        CheckpointManager manager(Env::Default(), Scratch().string());
        TD_ASSIGN_OR_RETURN(auto data, manager.RestoreLatest());
        data->global_step = 9;
        return armed([&] { return CatchResourceErrors("saving", [&] { return manager.Save(*data).status(); }); });
      },
      [&] {
        CheckCheckpoint({2, 9});
      });
}

TEST_F(AllocationFailureTest, Evaluate) {
  TryAll(
      "evaluate",
      [&](const Armed& armed) {
        Refresh();
        return armed([&] {
          RunConfig config = test::Config(Scratch().string());
          Estimator estimator(test::LineModel, config);
          return estimator.Evaluate(test::LineInput(64, 8, 1)).status();
        });
      },
      [&] { CheckCheckpoint({2}); });
}

}  // namespace
}  // namespace tandem
