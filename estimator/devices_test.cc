// ListDevices with a fake GPU driver.
#include "estimator/devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <map>
#include <string>

#include "runtime/cuda/testing/fake_driver.h"

namespace tandem {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

const LoadedLibrary& Library(const MachineDevices& machine, const std::string& name) {
  for (const LoadedLibrary& library : machine.libraries) {
    if (library.name == name) return library;
  }
  ADD_FAILURE() << name;
  static const LoadedLibrary none;
  return none;
}

TEST(ListDevicesTest, TellsOfGpus) {
  FakeDriver driver({.gpus = 2, .memory_bytes = uint64_t{3} << 30, .compute_capability = 89, .version = 12040});
  const MachineDevices machine = ListDevices();
  ASSERT_EQ(machine.gpus.size(), 2u);
  EXPECT_EQ(machine.gpus[1].name, "gpu:1");
  EXPECT_FALSE(machine.gpus[1].model.empty());
  EXPECT_EQ(machine.gpus[1].memory_bytes, uint64_t{3} << 30);
  EXPECT_EQ(machine.gpus[1].compute_capability, 89);
  EXPECT_EQ(machine.gpus[1].driver, "12.4");
  EXPECT_EQ(machine.no_gpu, "");
  EXPECT_EQ(Library(machine, "CUDA driver").version, "12.4");
  EXPECT_FALSE(Library(machine, "CUDA driver").file.empty());
}

TEST(ListDevicesTest, TakesNothingOfAGpu) {
  FakeDriver driver({.gpus = 1});
  ListDevices();
  for (const FakeCall& call : driver.calls()) {
    EXPECT_THAT(call.name, testing::AnyOf("cuInit", testing::StartsWith("cuDevice"), testing::StartsWith("cuDriver")));
  }
}

TEST(ListDevicesTest, TellsOfTheCpuAndItsTarget) {
  const MachineDevices machine = ListDevices();
  ASSERT_EQ(machine.cpu_problem, "");
  EXPECT_THAT(machine.cpu_target, testing::StartsWith("cpu:"));
  EXPECT_NE(machine.cpu_target, "cpu:native");
  // What code uses the machine has; LLVM asks the processor, /proc/cpuinfo the system.
  const std::map<std::string, std::string> linux_names = {
      {"bmi", "bmi1"}, {"lzcnt", "abm"}, {"sse4.1", "sse4_1"}, {"sse4.2", "sse4_2"}};
  for (const std::string& feature : machine.cpu_target_features) {
    const auto renamed = linux_names.find(feature);
    EXPECT_THAT(machine.cpu.features, Contains(renamed == linux_names.end() ? feature : renamed->second));
  }
  EXPECT_FALSE(machine.cpu_target_features.empty());
}

TEST(ListDevicesTest, TellsOfLibraries) {
  const MachineDevices machine = ListDevices();
  EXPECT_THAT(Library(machine, "LLVM").version, testing::StartsWith("19."));
  EXPECT_FALSE(Library(machine, "LLVM").file.empty());
  EXPECT_THAT(Library(machine, "oneDNN").version, testing::StartsWith("3."));
  EXPECT_THAT(Library(machine, "oneDNN").file, HasSubstr("libdnnl.so"));
}

TEST(ListDevicesTest, SaysWhyALibraryIsNotLoaded) {
  // Before the first search, whose answer stays.
  const LoadedLibrary library = Library(ListDevices(), "cuDNN");
  EXPECT_EQ(library.version, "");
  EXPECT_THAT(library.problem, HasSubstr("cuDNN cannot be loaded (tried /nowhere/libcudnn.so"));
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  setenv("TANDEM_LIBCUDNN", "/nowhere/libcudnn.so", 1);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
