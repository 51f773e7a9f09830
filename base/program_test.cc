#include "base/program.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>

#include "base/env.h"
#include "base/exit_code.h"
#include "base/owned_process.h"
#include "base/printable.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

struct Outcome {
  int exit_code = -1;
  std::string errors;  // stderr
};

// A process whose standard output is `output` and whose main function is RunProgram with this body.
Outcome RunWithOutput(int output, const std::function<absl::Status()>& body) {
  const std::string errors = testing::TempDir() + "/errors";
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    dup2(output, STDOUT_FILENO);
    char name[] = "/some/where/program";
    char* arguments[] = {name, nullptr};
    _exit(RunProgram(1, arguments, "does nothing", body));
  }
  Outcome outcome;
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.errors = *Env::Default()->ReadFile(errors);
  return outcome;
}

TEST(ProgramTest, OutputThatCannotBeWrittenIsAnIoError) {
  const int full = open("/dev/full", O_WRONLY);
  const std::string large(1 << 20, 'x');
  const std::vector<std::function<void()>> prints = {[] { std::printf("result\n"); }, [] { std::cout << "result\n"; },
                                                     [&] { std::fputs(large.c_str(), stdout); },
                                                     [&] { std::cout << large; }};
  for (const auto& print : prints) {
    const Outcome outcome = RunWithOutput(full, [&] { return print(), absl::OkStatus(); });
    EXPECT_EQ(outcome.exit_code, kExitIo);
    EXPECT_THAT(outcome.errors, HasSubstr("program: standard output: c"));
  }
  const Outcome error = RunWithOutput(full, [] { return std::printf("x"), absl::NotFoundError("no \x1b[2Jfile"); });
  EXPECT_EQ(error.exit_code, kExitMissingInput) << "the first error counts";
  EXPECT_EQ(error.errors, "program: no \\x1b[2Jfile\n");
  EXPECT_EQ(RunWithOutput(full, [] { return absl::OkStatus(); }).exit_code, 0) << "nothing was printed";
  close(full);
}

TEST(ProgramTest, AReaderThatGoesAwayEndsNothing) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  const std::string file = testing::TempDir() + "/after";
  const Outcome outcome = RunWithOutput(ends[1], [&] {
    std::printf("result\n");
    std::fflush(stdout);
    return Env::Default()->WriteFile(file, {"saved"});
  });
  close(ends[1]);
  EXPECT_EQ(outcome.exit_code, kExitIo);
  EXPECT_EQ(outcome.errors, "") << "`program | head` needs no complaint";
  EXPECT_EQ(*Env::Default()->ReadFile(file), "saved");
}

TEST(ProgramTest, MissingStandardDescriptorsAreOpened) {
  const std::string file = testing::TempDir() + "/content";
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    for (int fd : {0, 1, 2}) close(fd);
    PrepareStandardStreams();
    const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);  // a library's, such as std::ofstream's
    const bool printed = write(1, "out", 3) == 3 && write(2, "error", 5) == 5 && write(fd, "content", 7) == 7;
    _exit(printed && fd > 2 ? FinishProgram("program", absl::OkStatus()) : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(*Env::Default()->ReadFile(file), "content");
}

TEST(ProgramTest, TheProcessIsTandems) {
  EXPECT_FALSE(OwnsProcess());
  const int output = open("/dev/null", O_WRONLY);
  const Outcome outcome = RunWithOutput(output, [] {
    const char* connects = std::getenv("NCCL_RUNTIME_CONNECT");
    const bool prepared = OwnsProcess() && connects != nullptr && std::string(connects) == "0";
    return prepared ? absl::OkStatus() : absl::InternalError("the process is not prepared");
  });
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  close(output);
}

TEST(PrintableTest, EscapesWhatSteersATerminal) {
  EXPECT_EQ(Printable("a name, \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\n\tindented"),
            "a name, \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\n\tindented");
  EXPECT_EQ(Printable("\x1b[2J\a\r\x7f"), "\\x1b[2J\\x07\\x0d\\x7f");
  EXPECT_EQ(Printable(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(Printable("\xc2\x9b"
                      "2J"),
            "\\xc2\\x9b2J");                                                                 // CSI as one character
  EXPECT_EQ(Printable("m\xff \xc0\x9b \xe0\x82\x9b"), "m\\xff \\xc0\\x9b \\xe0\\x82\\x9b");  // not UTF-8
  EXPECT_EQ(Printable("\xe2\x82"), "\\xe2\\x82");                                            // cut short
  EXPECT_EQ(PrintableLine("one\ntwo\t"), "one\\x0atwo\\x09");
}

}  // namespace
}  // namespace tandem
