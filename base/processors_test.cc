#include "base/processors.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>
#include <vector>

namespace tandem {
namespace {

namespace fs = std::filesystem;

// A machine that has these files.
int Usable(const std::vector<std::pair<std::string, std::string>>& files) {
  const fs::path root = fs::path(::testing::TempDir()) / "root";
  fs::remove_all(root);
  for (const auto& [name, text] : files) {
    fs::create_directories((root / name).parent_path());
    std::ofstream(root / name) << text;
  }
  return UsableProcessors(root.string());
}

const int kAll = static_cast<int>(std::thread::hardware_concurrency());

TEST(Processors, AreThoseOfTheMachineWithoutALimit) {
  EXPECT_EQ(Usable({}), kAll);
  EXPECT_EQ(Usable({{"proc/self/cgroup", "0::/\n"}}), kAll);
  EXPECT_EQ(Usable({{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/cpu.max", "max 100000\n"}}), kAll);
  EXPECT_EQ(Usable({{"proc/self/cgroup", "1:cpu:/\n"}, {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"}}), kAll);
  EXPECT_EQ(Usable({{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/cpu.max", "100000000 100000\n"}}), kAll);
  EXPECT_GE(UsableProcessors(), 1);
}

TEST(Processors, AreThoseOfTheGroupsAroundTheProcess) {
  EXPECT_EQ(Usable({{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/cpu.max", "50000 100000\n"}}), 1);
  EXPECT_EQ(Usable({{"proc/self/cgroup", "0::/pod/box\n"},
                    {"sys/fs/cgroup/pod/box/cpu.max", "max 100000\n"},
                    {"sys/fs/cgroup/pod/cpu.max", "100000 100000\n"}}),
            1);
  EXPECT_EQ(Usable({{"proc/self/cgroup", "9:name=systemd:/\n4:cpu,cpuacct:/pod\n0::/\n"},
                    {"sys/fs/cgroup/cpu/pod/cpu.cfs_quota_us", "90000\n"},
                    {"sys/fs/cgroup/cpu/pod/cpu.cfs_period_us", "100000\n"}}),
            1);
  if (kAll >= 2) {
    EXPECT_EQ(Usable({{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/cpu.max", "101000 100000\n"}}), 2);
  }
}

TEST(Processors, DamagedFilesAreNoLimit) {
  for (const char* text : {"", "\n", "max", "100000", "a b", "-5 100000", "100000 0", "1 2 3"}) {
    EXPECT_EQ(Usable({{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/cpu.max", text}}), kAll) << text;
  }
  EXPECT_EQ(Usable({{"proc/self/cgroup", "nothing\n:\n"}}), kAll);
}

}  // namespace
}  // namespace tandem
