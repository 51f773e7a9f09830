// The table of device classes: which classes there are, and what is found by their names.
#include "runtime/device_classes/device_classes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/exit_code.h"
#include "runtime/cuda/testing/fake_driver.h"

namespace tandem {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

TEST(DeviceClasses, AreInTheTable) {
  std::vector<std::string> names;
  for (const DeviceClass* device_class : DeviceClasses()) names.emplace_back(device_class->name());
  EXPECT_THAT(names, ElementsAre("cpu", "gpu"));
  for (const std::string& name : names) {
    const absl::StatusOr<const DeviceClass*> found = FindDeviceClass(name);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ((*found)->name(), name);
    const absl::StatusOr<const KernelLibrary*> library = KernelLibraryOf(name);
    ASSERT_TRUE(library.ok()) << library.status();
    EXPECT_EQ(*library, &(*found)->kernel_library());
  }
}

TEST(DeviceClasses, NamesAClassThatIsNotThere) {
  for (const absl::Status& status : {ListDevices("abacus").status(), KernelLibraryOf("abacus").status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(ExitCodeFor(status), kExitUsage);
    EXPECT_EQ(status.message(),
              "there are no devices of class \"abacus\" in this program; it has the classes cpu, gpu");
  }
  EXPECT_THAT(std::string(CreateSession(nullptr, nullptr, {}).status().message()), HasSubstr("needs an executable"));
}

TEST(DeviceClasses, ListTheirDevices) {
  const FakeDriver driver({.gpus = 2, .compute_capability = 89});
  const absl::StatusOr<std::vector<DeviceInfo>> gpus = ListDevices("gpu");
  ASSERT_TRUE(gpus.ok()) << gpus.status();
  ASSERT_EQ(gpus->size(), 2u);
  EXPECT_EQ((*gpus)[1].compute_capability, 89);
  EXPECT_THAT(std::string(ListDevices("cpu").status().message()), HasSubstr("as many as are asked for"));
}

TEST(DeviceClasses, ListTheirLibraries) {
  const std::vector<LoadedLibrary> libraries = ListLibraries();
  for (const char* name : {"CUDA driver", "NCCL", "cuBLASLt", "cuDNN", "oneDNN"}) {
    EXPECT_THAT(libraries, Contains(Field(&LoadedLibrary::name, name)));
  }
}

}  // namespace
}  // namespace tandem
