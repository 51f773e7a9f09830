#include "tests/allocation/allocation_failure.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/env.h"
#include "base/exit_code.h"
#include "base/resource_errors.h"
#include "tests/allocation/failing_allocation.h"

namespace tandem::test {
namespace {

namespace fs = std::filesystem;

constexpr char kThisProgram[] = "allocation_failure";
constexpr char kFailingProgram[] = "tests/allocation/libfailing_program.so";
constexpr unsigned kMostSeconds = 60;  // a guard against hanging

int CodeOf(pid_t child) {
  int state = 0;
  waitpid(child, &state, 0);
  return WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
}

void SendTo(const std::string& path, int descriptor) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || dup2(file, descriptor) < 0) _exit(99);
}

}  // namespace

struct AllocationFailure::Report {
  int64_t allocations = 0;
  char message[300] = "";
};

std::set<int64_t> AllocationFailure::Places(int64_t count) const {
  const char* wanted = std::getenv("TANDEM_ALLOCATIONS");
  if (const char* one = std::getenv("TANDEM_ALLOCATION")) return {std::atoll(one)};
  const bool all = wanted != nullptr && std::strcmp(wanted, "all") == 0;
  const int64_t n = all ? count : std::min<int64_t>(count, wanted != nullptr ? std::atoll(wanted) : sample_.between);
  std::set<int64_t> places;
  for (int64_t i = 0; i < n; ++i) places.insert(1 + i * count / n + (count / n) * (count % 97) / 97);
  // What a run writes at its end takes few allocations, which a sample would miss.
  for (int64_t i = std::max<int64_t>(1, count - sample_.last + 1); i <= count; ++i) places.insert(i);
  for (int64_t i = 1; i <= std::min(count, sample_.first); ++i) places.insert(i);
  return places;
}

AllocationFailure::AllocationFailure()
    : report_(static_cast<Report*>(
          mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))),
      root_(fs::path(::testing::TempDir()) / ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
  fs::remove_all(root_);
  fs::create_directories(root_);
}

AllocationFailure::~AllocationFailure() {
  munmap(report_, sizeof(Report));
  fs::remove_all(root_);
}

ProcessEnd AllocationFailure::InChild(int64_t n, bool sticky, const ChildWork& work) {
  *report_ = Report();
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(kMostSeconds);
    SendTo((root_ / "log").string(), STDERR_FILENO);
    _exit(RunMain(kThisProgram, [&] {
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
  const int code = CodeOf(child);
  return {code, report_->allocations, report_->message};
}

ProcessEnd AllocationFailure::InProgram(int64_t n, bool sticky, const std::vector<std::string>& command) {
  const std::string counted = (root_ / "allocations").string();
  fs::remove(counted);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(kMostSeconds);
    SendTo((root_ / "out").string(), STDOUT_FILENO);
    SendTo((root_ / "log").string(), STDERR_FILENO);
    setenv("LD_PRELOAD", fs::absolute(kFailingProgram).c_str(), 1);
    setenv("TANDEM_FAILING_ALLOCATION", std::to_string(n).c_str(), 1);
    setenv("TANDEM_FAILING_ALLOCATIONS_FROM_THERE", sticky ? "1" : "0", 1);
    setenv("TANDEM_COUNTED_ALLOCATIONS", counted.c_str(), 1);
    std::vector<char*> arguments;
    for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(99);
  }
  ProcessEnd end{.exit_code = CodeOf(child)};
  end.allocations = std::atoll(Env::Default()->ReadFile(counted).value_or("0").c_str());
  return end;
}

std::string AllocationFailure::Log() const {
  auto text = Env::Default()->ReadFile((root_ / "log").string());
  return text.ok() ? text->substr(text->size() - std::min<size_t>(text->size(), 6000)) : "";
}

void AllocationFailure::TryProcesses(const std::string& what, const Run& run, const std::function<void()>& check) {
  TryPlaces(what, kThisProgram, run, [&](const ProcessEnd&) { check(); });
}

void AllocationFailure::TryAll(const std::string& what, const ChildWork& work, const std::function<void()>& check) {
  TryProcesses(
      what, [&](int64_t n, bool sticky) { return InChild(n, sticky, work); }, check);
}

void AllocationFailure::TryProgram(const std::vector<std::string>& command, const std::function<void()>& check) {
  const auto output = [&] { return Env::Default()->ReadFile((root_ / "out").string()).value_or("no output"); };
  std::string expected;
  bool first = true;
  TryPlaces(
      absl::StrJoin(command, " "), fs::path(command[0]).filename().string(),
      [&](int64_t n, bool sticky) { return InProgram(n, sticky, command); },
      [&](const ProcessEnd& end) {
        if (first) expected = output();
        first = false;
        if (end.exit_code == 0) {
          EXPECT_EQ(output(), expected);
        }
        check();
      });
}

void AllocationFailure::TryPlaces(const std::string& what, const std::string& program, const Run& run,
                                  const std::function<void(const ProcessEnd&)>& check) {
  const ProcessEnd whole = run(0, false);
  ASSERT_EQ(whole.exit_code, 0) << what << ": " << whole.message << Log();
  ASSERT_GT(whole.allocations, 10) << what;
  check(whole);
  int tried = 0, statuses = 0, exits = 0, unharmed = 0;
  for (const int64_t n : Places(whole.allocations)) {
    for (bool sticky : {false, true}) {
      if (sticky && tried % 8 != 0) continue;
      const ProcessEnd end = run(n, sticky);
      ++tried;
      const std::string place = absl::StrCat(what, ": allocation ", n, " of ", whole.allocations,
                                             sticky ? " and all behind it" : "", " fails: ");
      SCOPED_TRACE(place);
      (end.exit_code == 0 ? unharmed : end.message.empty() ? exits : statuses) += 1;
      // A process of a cluster may hear of its own failure from another.
      const bool heard = end.exit_code == kExitTemporary && absl::StrContains(end.message, "out of memory");
      EXPECT_TRUE(end.exit_code == 0 || end.exit_code == kExitIo || heard)
          << "exit code " << end.exit_code << ", " << end.message << "\n"
          << Log();
      if (end.exit_code == kExitIo && end.message.empty()) {
        EXPECT_THAT(Log(), ::testing::HasSubstr(program + ": "));
      } else if (end.exit_code == kExitIo) {
        EXPECT_THAT(end.message, ::testing::HasSubstr("RESOURCE_EXHAUSTED: "));
      }
      check(end);
    }
  }
  std::printf("%s: %d tried of %lld allocations: %d statuses, %d ends with exit code 74, %d went on\n", what.c_str(),
              tried, static_cast<long long>(whole.allocations), statuses, exits, unharmed);
  RecordProperty(what + "_tried", tried);
}

}  // namespace tandem::test
