#include "base/user_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

#include <cstdlib>
#include <string>

#include "base/env.h"
#include "base/logging.h"

namespace tandem {
namespace {

using ::testing::ElementsAre;

class UserCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = testing::TempDir() + "/" + testing::UnitTest::GetInstance()->current_test_info()->name();
    if (Env::Default()->Exists(dir_)) {
      ASSERT_TRUE(Env::Default()->DeleteRecursively(dir_).ok());
    }
    ASSERT_TRUE(Env::Default()->CreateDirs(dir_).ok());
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
  }
  // A file of so many bytes that was used so many seconds after 1970.
  void Write(const std::string& name, int64_t bytes, int64_t used) {
    const std::string path = JoinPath(dir_, name);
    ASSERT_TRUE(Env::Default()->WriteFile(path, {std::string(bytes, 'x')}).ok());
    const utimbuf times = {used, used};
    ASSERT_EQ(utime(path.c_str(), &times), 0);
  }

  std::string dir_;
};

TEST_F(UserCacheTest, IsWhereTheEnvironmentSays) {
  EXPECT_EQ(UserProgramCache(), "");
  setenv("HOME", dir_.c_str(), 1);
  EXPECT_EQ(UserProgramCache(), dir_ + "/.cache/tandem/compiled");
  setenv("XDG_CACHE_HOME", (dir_ + "/xdg").c_str(), 1);
  EXPECT_EQ(UserProgramCache(), dir_ + "/xdg/tandem/compiled");
  EXPECT_EQ(UserProgramCache(), dir_ + "/xdg/tandem/compiled");  // which is there now
  struct stat info;
  ASSERT_EQ(stat((dir_ + "/xdg/tandem/compiled").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(UserProgramCache(), dir_ + "/.cache/tandem/compiled");
}

TEST_F(UserCacheTest, WhatCannotBeUsedIsALineInTheLog) {
  LogCapture log;
  ASSERT_TRUE(Env::Default()->WriteFile(dir_ + "/file", {"x"}).ok());
  setenv("XDG_CACHE_HOME", (dir_ + "/file").c_str(), 1);
  EXPECT_EQ(UserProgramCache(), "");
  EXPECT_TRUE(log.Contains("Compiled programs are not kept for the next start"));
  EXPECT_TRUE(log.Contains(dir_ + "/file/tandem/compiled cannot be used"));
  setenv("XDG_CACHE_HOME", dir_.c_str(), 1);
  ASSERT_NE(UserProgramCache(), "");
  ASSERT_EQ(chmod((dir_ + "/tandem/compiled").c_str(), 0777), 0);
  EXPECT_EQ(UserProgramCache(), "");
  EXPECT_TRUE(log.Contains("others may write it"));
}

TEST_F(UserCacheTest, WhatWasUsedLongestAgoGoes) {
  ASSERT_TRUE(Env::Default()->CreateDirs(dir_ + "/kernels").ok());
  Write("train-1.tdx", 100, 50);
  Write("train-2.tdx", 100, 20);
  Write("kernels/a.tdk", 100, 30);
  Write("kernels/b.tdk", 100, 40);
  Write("notes.txt", 1000, 10);
  const auto names = [&](const std::string& dir) { return *Env::Default()->ListDir(dir); };
  TrimProgramCache(dir_, 400);
  EXPECT_THAT(names(dir_), testing::UnorderedElementsAre("train-1.tdx", "train-2.tdx", "kernels", "notes.txt"));
  TrimProgramCache(dir_, 250);
  EXPECT_THAT(names(dir_), testing::UnorderedElementsAre("train-1.tdx", "kernels", "notes.txt"));
  EXPECT_THAT(names(dir_ + "/kernels"), ElementsAre("b.tdk"));
  TrimProgramCache(dir_, 0);
  EXPECT_THAT(names(dir_), testing::UnorderedElementsAre("kernels", "notes.txt"));
  TrimProgramCache(dir_ + "/nowhere", 0);
}

}  // namespace
}  // namespace tandem
