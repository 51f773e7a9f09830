#include "base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "base/exit_code.h"
#include "base/fault_injecting_env.h"
#include "base/temporary_name.h"
#include "base/test_dir.h"

namespace tandem {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

TEST(CheckOutputFile, SaysWhatIsWrong) {
  Env* env = Env::Default();
  const std::string dir = TestDir("check");
  EXPECT_EQ(CheckOutputFile(env, "--out", JoinPath(dir, "file")), absl::OkStatus());
  EXPECT_THAT(*env->ListDir(dir), ElementsAre()) << "it leaves nothing";
  const absl::Status absent = CheckOutputFile(env, "--out", JoinPath(dir, "no/file"));
  EXPECT_EQ(ExitCodeFor(absent), kExitUsage);
  EXPECT_THAT(std::string(absent.message()), HasSubstr("--out " + dir + "/no/file: there is no folder " + dir + "/no"));
  const absl::Status folder = CheckOutputFile(env, "--out", dir);
  EXPECT_THAT(std::string(folder.message()), HasSubstr("this is a folder; add the name of a file"));
  FaultInjectingEnv full(env);
  full.FailNth(FileOp::kCreate, 1, EDQUOT);
  const absl::Status refused = CheckOutputFile(&full, "--out", JoinPath(dir, "file"));
  EXPECT_EQ(ExitCodeFor(refused), kExitIo);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("--out " + dir + "/file cannot be written: "));
}

// At names that can be guessed, in a directory that others may write.
TEST(CheckOutputFile, WhatOthersHavePlantedIsNotTouched) {
  Env* env = Env::Default();
  const std::string dir = TestDir("planted"), victim = JoinPath(TestDir("elsewhere"), "victim");
  ASSERT_TRUE(env->WriteFile(victim, {"precious"}).ok());
  const std::string end = "-" + std::to_string(getpid());
  ASSERT_EQ(symlink(victim.c_str(), (dir + "/.tmp-probe-file" + end).c_str()), 0);
  ASSERT_EQ(mkfifo((dir + "/.tmp-probe-other" + end).c_str(), 0600), 0);
  ASSERT_EQ(mkfifo((dir + "/fifo").c_str(), 0600), 0);
  alarm(60);  // who waits for a reader waits for ever
  for (const char* name : {"file", "other", "fifo"}) {
    EXPECT_EQ(CheckOutputFile(env, "--out", JoinPath(dir, name)), absl::OkStatus()) << name;
  }
  alarm(0);
  EXPECT_EQ(*env->ReadFile(victim), "precious");
}

TEST(WriteOutputFile, FilesAreReplacedAndPipesWrittenTo) {
  Env* env = Env::Default();
  const std::string dir = TestDir("write"), file = JoinPath(dir, "file"), pipe = JoinPath(dir, "pipe");
  for (const char* text : {"long text", "text"}) {
    ASSERT_EQ(WriteOutputFile(env, "--out", file, text), absl::OkStatus());
    EXPECT_EQ(*env->ReadFile(file), text);
  }
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_EQ(WriteOutputFile(env, "--out", pipe, "text"), absl::OkStatus());
  char read_text[5] = "";
  EXPECT_EQ(read(reader, read_text, 4), 4);
  EXPECT_STREQ(read_text, "text");
  close(reader);
  const absl::Status absent = WriteOutputFile(env, "--out", JoinPath(dir, "no/file"), "text");
  EXPECT_EQ(ExitCodeFor(absent), kExitIo) << "it is no input";
  EXPECT_THAT(std::string(absent.message()), HasSubstr("--out: " + dir + "/no/"));
  const absl::Status full = WriteOutputFile(env, "--out", "/dev/full", "text");
  EXPECT_EQ(ExitCodeFor(full), kExitIo);
  EXPECT_THAT(std::string(full.message()), HasSubstr("--out: /dev/full: "));
}

TEST(CheckOutputFile, SeveralAtOnce) {
  const std::string file = JoinPath(TestDir("at_once"), "file");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 200; ++k) EXPECT_EQ(CheckOutputFile(Env::Default(), "--out", file), absl::OkStatus());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(*Env::Default()->ListDir(DirName(file)), ElementsAre());
}

TEST(CheckOutputFile, LeftoversOfProbesGo) {
  Env* env = Env::Default();
  const std::string dir = TestDir("probes");
  const auto temporary = [&](const char* name) { return TemporaryPath(env, JoinPath(dir, name)); };
  const std::string other = temporary("probe-other"), result = temporary("file");
  for (const std::string& file : {temporary("probe-file"), other, result}) {
    ASSERT_TRUE(env->WriteFile(file, {}).ok());
  }
  EXPECT_EQ(CheckOutputFile(env, "--out", JoinPath(dir, "file")), absl::OkStatus());
  EXPECT_THAT(*env->ListDir(dir), UnorderedElementsAre(BaseName(other), BaseName(result)));
}

}  // namespace
}  // namespace tandem
