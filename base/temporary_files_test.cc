#include "base/temporary_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <set>
#include <thread>

#include "base/temporary_name.h"
#include "base/test_dir.h"
#include "base/unsynced_files.h"

namespace tandem {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

bool All(absl::string_view) { return true; }

// Another process, which has done something and stands still then.
class Process {
 public:
  explicit Process(const std::function<void()>& work) {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    id_ = fork();
    if (id_ == 0) {
      work();
      static_cast<void>(write(ready[1], "x", 1) == 1);
      for (;;) pause();
    }
    char byte;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
  }
  ~Process() { Kill(); }

  void Kill() {
    if (id_ == 0) return;
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
    id_ = 0;
  }

 private:
  pid_t id_;
};

TEST(TemporaryName, IsGivenOnce) {
  Env* env = Env::Default();
  std::vector<std::string> names[4];
  std::vector<std::thread> threads;
  for (auto& mine : names) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) mine.push_back(TemporaryPath(env, "/dir/file"));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::string> all;
  for (const auto& mine : names) all.insert(mine.begin(), mine.end());
  EXPECT_EQ(all.size(), 400u);
  EXPECT_EQ(DirName(*all.begin()), "/dir");
}

TEST(TemporaryName, TellsWhatItIsFor) {
  for (const char* target : {"c", "c-1", "c-1-0123456789abcdef-2", ".lock", "model.ckpt-3"}) {
    const std::string name = BaseName(TemporaryPath(Env::Default(), target));
    EXPECT_EQ(TargetOfTemporary(name), target);
    EXPECT_TRUE(IsTemporary(name));
  }
  for (const char* other :
       {"", ".tmp-", ".tmp-mine", "c-1-0123456789abcdef-0", ".tmp-c-1-0123456789ABCDEF-0", ".tmp-c-7",
        ".tmp-c-1-0123456789abcdef-x", ".tmp-c-1-0123456789abcde-0", ".tmp-0123456789abcdef-0"}) {
    EXPECT_EQ(TargetOfTemporary(other), "") << other;
  }
  EXPECT_TRUE(IsTemporary(".tmp-c-7"));
  EXPECT_FALSE(IsTemporary(".tmp-mine"));
  EXPECT_FALSE(IsTemporary("c-7"));
  EXPECT_LE(TemporaryPath(Env::Default(), std::string(250, 'x')).size(), 250u);
}

TEST(TemporaryFiles, WritersOfOneFileAtOnce) {
  Env* env = Env::Default();
  const std::string dir = TestDir("writers"), file = JoinPath(dir, "file");
  const std::string contents[] = {std::string(3000, 'a'), std::string(50000, 'b'), "c"};
  std::atomic<bool> done = false;
  std::thread cleaner([&] {
    while (!done) EXPECT_EQ(DeleteTemporaries(env, dir, All), absl::OkStatus());
  });
  std::vector<std::thread> writers;
  for (const std::string& content : contents) {
    writers.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        EXPECT_EQ(i % 2 == 0 ? env->WriteFileAtomically(file, content) : WriteFileUnsynced(env, file, content),
                  absl::OkStatus());
      }
    });
  }
  for (int i = 0; i < 200; ++i) {
    const auto read = env->ReadFile(file);
    EXPECT_TRUE(!read.ok() || std::count(std::begin(contents), std::end(contents), *read) == 1);
  }
  for (std::thread& writer : writers) writer.join();
  done = true;
  cleaner.join();
  EXPECT_THAT(*env->ListDir(dir), ElementsAre("file"));
}

TEST(TemporaryFiles, DirectoriesOfOneNameAtOnce) {
  Env* env = Env::Default();
  const std::string dir = TestDir("directories");
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(DeleteTemporaries(env, dir, All), absl::OkStatus());
        auto made = TemporaryDir::Create(env, JoinPath(dir, "name"));
        ASSERT_TRUE(made.ok()) << made.status();
        for (const char* file : {"a", "b"}) {
          EXPECT_EQ(env->WriteNewFile(JoinPath(made->path(), file), {"x"}), absl::OkStatus());
        }
        const std::string to = JoinPath(dir, std::to_string(writer) + "." + std::to_string(i));
        EXPECT_EQ(made->Rename(to), absl::OkStatus());
        EXPECT_EQ(i % 2 == 0 ? DeleteAside(env, to) : absl::OkStatus(), absl::OkStatus());
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(env->ListDir(dir)->size(), 100u);
}

TEST(TemporaryFiles, WhatSomebodyWritesStays) {
  Env* env = Env::Default();
  const std::string dir = TestDir("live");
  const std::string own = TemporaryPath(env, JoinPath(dir, "file")), others = TemporaryPath(env, JoinPath(dir, "file"));
  std::unique_ptr<WritableFile> file = *env->CreateLockedFile(own);
  auto own_dir = std::make_unique<TemporaryDir>(*TemporaryDir::Create(env, JoinPath(dir, "made")));
  Process process([&] {
    static auto file = env->CreateLockedFile(others);
    static auto made = TemporaryDir::Create(env, JoinPath(dir, "others"));
    static_cast<void>(env->WriteNewFile(JoinPath(made->path(), "x"), {"x"}));
  });
  ASSERT_EQ(DeleteTemporaries(env, dir, All), absl::OkStatus());
  EXPECT_EQ(env->ListDir(dir)->size(), 6u);
  process.Kill();
  ASSERT_EQ(DeleteTemporaries(env, dir, All), absl::OkStatus());
  EXPECT_THAT(*env->ListDir(dir),
              UnorderedElementsAre(BaseName(own), BaseName(own_dir->path()), BaseName(own_dir->path()) + ".lock"));
  file = nullptr;
  own_dir = nullptr;
  ASSERT_EQ(DeleteTemporaries(env, dir, All), absl::OkStatus());
  EXPECT_THAT(*env->ListDir(dir), ElementsAre());
}

TEST(TemporaryFiles, OnlyOwnLeftoversGo) {
  Env* env = Env::Default();
  const std::string dir = TestDir("others"), victim = JoinPath(TestDir("elsewhere"), "victim");
  ASSERT_TRUE(env->WriteFile(victim, {"precious"}).ok());
  const std::string link = TemporaryPath(env, JoinPath(dir, "c")), fifo = TemporaryPath(env, JoinPath(dir, "c"));
  ASSERT_EQ(symlink(victim.c_str(), link.c_str()), 0);
  ASSERT_EQ(symlink(DirName(victim).c_str(), TemporaryPath(env, JoinPath(dir, "c")).c_str()), 0);
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const std::string other = TemporaryPath(env, JoinPath(dir, "c-1"));
  for (const std::string& file : {TemporaryPath(env, JoinPath(dir, "c")), other, dir + "/.tmp-c", dir + "/c"}) {
    ASSERT_TRUE(env->WriteFile(file, {"x"}).ok());
  }
  alarm(60);  // who waits for the FIFO waits for ever
  ASSERT_EQ(DeleteTemporaries(env, dir, [](absl::string_view target) { return target == "c"; }), absl::OkStatus());
  alarm(0);
  EXPECT_THAT(*env->ListDir(dir), UnorderedElementsAre(BaseName(other), ".tmp-c", "c"));
  EXPECT_EQ(*env->ReadFile(victim), "precious");
  EXPECT_EQ(DeleteTemporaries(env, dir + "/absent", All), absl::OkStatus());
}

}  // namespace
}  // namespace tandem
