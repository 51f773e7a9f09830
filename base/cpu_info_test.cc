#include "base/cpu_info.h"

#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using ::testing::ElementsAre;

class CpuInfoTest : public testing::Test {
 protected:
  CpuInfoTest() {
    root_ = testing::TempDir() + "/cpu_" + testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(root_);
  }
  void Write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = root_ + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void WriteCache(const std::string& index, const std::string& level, const std::string& type, const std::string& size,
                  const std::string& list) {
    const std::string folder = "sys/devices/system/cpu/cpu0/cache/" + index + "/";
    Write(folder + "level", level + "\n");
    Write(folder + "type", type + "\n");
    Write(folder + "size", size + "\n");
    Write(folder + "shared_cpu_list", list + "\n");
  }
  std::string root_;
};

// Two sockets of one core with two threads each.
TEST_F(CpuInfoTest, CountsSocketsCoresAndThreads) {
  std::string text;
  for (int i = 0; i < 4; ++i) {
    text += "processor\t: " + std::to_string(i) +
            "\nmodel name\t: AMD EPYC 9654: fast\nphysical id\t: " + std::to_string(i / 2) +
            "\ncore id\t\t: 0\nflags\t\t: fpu avx2 avx\n\n";
  }
  Write("proc/cpuinfo", text);
  const CpuInfo info = ReadCpuInfo(root_);
  EXPECT_EQ(info.model, "AMD EPYC 9654: fast");
  EXPECT_EQ(info.sockets, 2);
  EXPECT_EQ(info.cores, 2);
  EXPECT_EQ(info.logical, 4);
  EXPECT_THAT(info.features, ElementsAre("avx", "avx2", "fpu"));
}

TEST_F(CpuInfoTest, ReadsCaches) {
  WriteCache("index0", "1", "Data", "32K", "0,64");
  WriteCache("index1", "1", "Instruction", "32K", "0,64");
  WriteCache("index2", "2", "Unified", "1024K", "0");
  WriteCache("index3", "3", "Unified", "32M", "0-7,64-71");
  EXPECT_THAT(ReadCpuInfo(root_).caches,
              ElementsAre(CpuCache{1, "data", 32 << 10, 2}, CpuCache{1, "instruction", 32 << 10, 2},
                          CpuCache{2, "unified", 1 << 20, 1}, CpuCache{3, "unified", 32 << 20, 16}));
}

TEST_F(CpuInfoTest, ToleratesWhatIsNotThere) {
  CpuInfo info = ReadCpuInfo(root_);
  EXPECT_EQ(info.logical, 0);
  EXPECT_EQ(info.model, "");
  EXPECT_TRUE(info.caches.empty());
  Write("proc/cpuinfo", "processor: 0\nprocessor: 1\nnonsense\n");
  WriteCache("index0", "1", "Data", "much", "");
  info = ReadCpuInfo(root_);
  EXPECT_EQ(info.logical, 2);
  EXPECT_EQ(info.cores, 2);
  EXPECT_EQ(info.sockets, 1);
  EXPECT_THAT(info.caches, ElementsAre(CpuCache{1, "data", 0, 1}));
}

TEST(ThisCpuTest, HasProcessors) {
  const CpuInfo info = ReadCpuInfo();
  EXPECT_GE(info.usable, 1);
  EXPECT_GE(info.logical, info.cores);
}

}  // namespace
}  // namespace tandem
