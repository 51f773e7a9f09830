// A program with a main function of its own trains, evaluates, exports, loads and predicts. Its handlers, descriptors,
// locales, environment and threads are its own all the time.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <clocale>
#include <cstdlib>
#include <exception>
#include <functional>
#include <locale>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/status_macros.h"
#include "estimator/estimator.h"
#include "estimator/serving/model.h"
#include "estimator/test_models.h"
#include "tests/embedding/host_state.h"

namespace tandem {
namespace {

constexpr int kHandled[] = {SIGHUP, SIGINT, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGPIPE, SIGTERM, SIGCHLD};
constexpr size_t kSmallStack = size_t{256} << 10;
constexpr int64_t kSteps = 6;

std::atomic<int> signals_of_host{0};

void OnSignal(int number, siginfo_t*, void*) {
  if (number != SIGTERM && number != SIGPIPE) _exit(97);  // no other comes
  ++signals_of_host;
}
[[noreturn]] void OnTerminate() { _exit(98); }
void OnFailedNew() { throw std::bad_alloc(); }

class CommaNumbers final : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\1"; }
};

void SetUpHost() {
  struct sigaction action = {};
  action.sa_sigaction = OnSignal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaddset(&action.sa_mask, SIGUSR1);
  for (const int s : kHandled) sigaction(s, &action, nullptr);
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  std::set_terminate(OnTerminate);
  std::set_new_handler(OnFailedNew);
  std::setlocale(LC_ALL, "C.UTF-8");
  std::locale::global(std::locale(std::locale::classic(), new CommaNumbers));
  umask(027);
  setenv("OF_THE_HOST", "1", 1);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(descriptor);
}

// Trains, evaluates, exports, loads and predicts in `dir`. Appends to `problems` how the host changes meanwhile.
absl::Status UseTandem(const std::string& dir, std::string* problems) {
  const test::HostState handlers = test::Handlers();
  const auto look = std::make_shared<test::StepHook>([&](RunContext& context, const RunValues&) {
    absl::StrAppend(problems, test::Differences(handlers, test::Handlers()));
    if (context.global_step() == 2) {
      raise(SIGTERM);
      raise(SIGPIPE);
    }
  });
  Estimator estimator(test::LineModel, RunConfig{.model_dir = dir, .save_checkpoints_steps = 3, .threads = 2});
  TD_RETURN_IF_ERROR(estimator.Train(test::LineInput(), {.max_steps = kSteps, .hooks = {look}}));
  TD_ASSIGN_OR_RETURN(const EvalResult result, estimator.Evaluate(test::LineInput(64, 8, 1)));
  if (result.global_step() != kSteps) return absl::InternalError("a signal of the host has ended the training");
  TD_ASSIGN_OR_RETURN(const std::string path,
                      estimator.ExportModel(dir + "/exports", {.features = {{"x", DType::kFloat32, {kBatch, 2}}}}));
  TD_ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, LoadModel(path, {.threads = 2}));
  TD_ASSIGN_OR_RETURN(const NamedTensors outputs,
                      model->Predict({{"x", HostTensor::FromVector<float>({1, 2}, {0.5f, 0.25f})}}));
  if (outputs.at("y").shape() != Shape{1, 1}) return absl::InternalError("no prediction");
  absl::StrAppend(problems, test::Differences(handlers, test::Handlers()));
  return absl::OkStatus();
}

// Calls `work` in a thread with a small stack. Returns false if there is no such thread.
bool InSmallThread(std::function<void()> work) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kSmallStack);
  pthread_t thread;
  const auto call = [](void* argument) -> void* {
    (*static_cast<std::function<void()>*>(argument))();
    return nullptr;
  };
  return pthread_create(&thread, &attributes, call, &work) == 0 && pthread_join(thread, nullptr) == 0;
}

// The host program: writes what is wrong to the file `report`.
void RunHost(const std::string& dir, const std::string& report) {
  SetUpHost();
  std::string problems;
  const test::HostState before = test::WholeState();
  const bool ran = InSmallThread([&] {
    const test::HostState before_in_thread = test::WholeState();
    const absl::Status status = UseTandem(dir, &problems);
    if (!status.ok()) absl::StrAppend(&problems, status.ToString(), "\n");
    absl::StrAppend(&problems, test::Differences(before_in_thread, test::WholeState()));
  });
  if (!ran) absl::StrAppend(&problems, "no thread\n");
  absl::StrAppend(&problems, test::Differences(before, test::WholeState()));
  if (signals_of_host != 2) absl::StrAppend(&problems, signals_of_host.load(), " of 2 signals came\n");
  const absl::Status written = Env::Default()->WriteFile(report, {problems});
  _exit(written.ok() ? 0 : 1);
}

// First in this file: the process has one thread.
TEST(HostProcessTest, IsLeftAlone) {
  const std::string dir = test::ModelDir(), report = dir + ".report";
  const pid_t child = fork();
  if (child == 0) RunHost(dir, report);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  const absl::StatusOr<std::string> problems = Env::Default()->ReadFile(report);
  ASSERT_TRUE(problems.ok()) << problems.status();
  EXPECT_EQ(*problems, "");
}

// Linking Tandem sets no variable before `main`.
TEST(HostProcessTest, StartsWithItsOwnEnvironment) { EXPECT_EQ(std::getenv("NCCL_RUNTIME_CONNECT"), nullptr); }

}  // namespace
}  // namespace tandem
