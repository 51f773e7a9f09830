#include "cluster/member_test_util.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <future>
#include <iostream>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/exit_code.h"
#include "cluster/member.h"

namespace tandem {
namespace {

// Returns "OK value", or "E2 message" with the exit code.
std::string Line(const absl::StatusOr<std::string>& value) {
  if (value.ok()) return absl::StrCat("OK ", *value);
  return absl::StrCat("E", ExitCodeFor(value.status()), " ",
                      absl::StrReplaceAll(value.status().message(), {{"\n", " "}}));
}
std::string Line(const absl::Status& status) { return status.ok() ? "OK " : Line(absl::StatusOr<std::string>(status)); }

// Runs as the other program: joins, prints the result, and does what the lines on its input say.
int RunMember(const std::vector<std::string>& args) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  Cluster cluster;
  MemberOptions options;
  cluster.source = "a test";
  EXPECT_TRUE(absl::SimpleAtoi(args[0], &cluster.rank) && absl::SimpleAtoi(args[1], &cluster.world_size));
  if (cluster.rank > 0) cluster.task = {TaskType::kWorker, cluster.rank - 1};
  cluster.coordinator = args[2];
  cluster.job = args[3];
  if (!cluster.job.empty()) cluster.local_world_size = cluster.world_size;
  EXPECT_TRUE(absl::SimpleAtod(args[4], &options.deadline_seconds));
  EXPECT_TRUE(absl::SimpleAtod(args[5], &options.start_deadline_seconds));
  options.facts["build"] = args[6];
  if (args[6] == "none") options.facts.clear();
  const TlsFiles tls = {.certificate = args[7], .key = args[8], .ca = args[9], .server_name = args[10]};
  if (tls != TlsFiles()) options.tls = tls;
  absl::StatusOr<std::unique_ptr<Member>> joined = Member::Join(cluster, options);
  std::cout << Line(joined.status()) << std::endl;
  if (!joined.ok()) return ExitCodeFor(joined.status());
  std::unique_ptr<Member> member = *std::move(joined);
  for (std::string line; std::getline(std::cin, line);) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    const auto word = [&](size_t i) { return i < words.size() ? words[i] : ""; };
    constexpr absl::Duration kTimeout = absl::Seconds(30);
    std::string answer = "OK ";
    if (word(0) == "set") answer = Line(member->Set(word(1), word(2)));
    if (word(0) == "set_bytes") answer = Line(member->Set(word(1), std::string(std::stoul(word(2)), 'x')));
    if (word(0) == "get") answer = Line(member->Get(word(1), kTimeout));
    if (word(0) == "count") answer = absl::StrCat("OK ", member->Get(word(1), kTimeout).value_or("").size());
    if (word(0) == "try_get") answer = Line(member->Get(word(1), absl::Milliseconds(100)));
    if (word(0) == "barrier") answer = Line(member->Barrier(word(1), kTimeout));
    if (word(0) == "try_barrier") answer = Line(member->Barrier(word(1), absl::Milliseconds(500)));
    if (word(0) == "agree") answer = Line(member->Agree(word(1), word(2), kTimeout));
    if (word(0) == "status") answer = Line(member->status());
    if (word(0) == "fail") member->Fail(absl::InternalError(line));
    if (word(0) == "fail_because_of_another") member->Fail(absl::UnavailableError("a connection broke"));
    if (word(0) == "die") _exit(1);
    if (word(0) == "wait") {
      std::promise<absl::Status> failure;
      member->SetOnFailure([&](const absl::Status& status) { failure.set_value(status); });
      std::future<absl::Status> future = failure.get_future();
      answer = future.wait_for(std::chrono::seconds(30)) == std::future_status::ready ? Line(future.get()) : "waited";
      member->SetOnFailure(nullptr);
    }
    if (word(0) == "leave") {
      absl::Status failure;
      member->SetOnFailure([&](const absl::Status& status) { failure = status; });
      member.reset();
      std::cout << (failure.ok() ? "OK left" : Line(failure)) << std::endl;
      return 0;
    }
    std::cout << answer << std::endl;
  }
  return 0;
}

}  // namespace

Process::Process(const Start& start) {
  int in[2], out[2];
  EXPECT_TRUE(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
  std::vector<std::string> args = {"/proc/self/exe",
                                   "--member",
                                   absl::StrCat(start.rank),
                                   absl::StrCat(start.world_size),
                                   start.coordinator,
                                   start.job,
                                   absl::StrCat(start.deadline),
                                   absl::StrCat(start.start_deadline),
                                   start.build,
                                   start.tls.certificate,
                                   start.tls.key,
                                   start.tls.ca,
                                   start.tls.server_name};
  std::vector<char*> pointers;
  for (std::string& arg : args) pointers.push_back(arg.data());
  pointers.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    execv(pointers[0], pointers.data());
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  in_ = in[1];
  out_ = fdopen(out[0], "r");
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)), in_(std::exchange(other.in_, -1)), out_(std::exchange(other.out_, nullptr)) {}

Process::~Process() {
  if (pid_ == 0) return;
  Signal(SIGKILL);
  waitpid(pid_, nullptr, 0);
  close(in_);
  fclose(out_);
}

void Process::Say(const std::string& line) { EXPECT_GT(dprintf(in_, "%s\n", line.c_str()), 0); }

std::string Process::Answer() {
  char* line = nullptr;
  size_t size = 0;
  const ssize_t n = getline(&line, &size, out_);
  const std::string answer = n > 0 ? std::string(line, n - 1) : "";
  free(line);
  return answer;
}

std::string Process::Do(const std::string& line) {
  Say(line);
  return Answer();
}

void Process::Signal(int signal) { kill(pid_, signal); }

std::vector<Process> StartAll(Start start) {
  if (start.coordinator.empty() && start.job.empty()) start.coordinator = FreeAddress();
  std::vector<Process> processes;
  for (start.rank = 0; start.rank < start.world_size; ++start.rank) processes.emplace_back(start);
  return processes;
}

std::vector<Process> Met(const Start& start) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Process> processes = StartAll(start);
  for (Process& process : processes) EXPECT_EQ(process.Answer(), "OK ");
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  std::cout << processes.size() << " processes started and met in " << time.count() * 1e3 << " ms\n";
  return processes;
}

void SayToAll(std::vector<Process>& processes, const std::string& line) {
  for (Process& process : processes) process.Say(line);
}

int MemberTestMain(int argc, char** argv) {
  if (argc == 13 && strcmp(argv[1], "--member") == 0) {
    return RunMember(std::vector<std::string>(argv + 2, argv + argc));
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

}  // namespace tandem
