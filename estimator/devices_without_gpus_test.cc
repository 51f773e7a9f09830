// ListDevices in a program that is linked without device classes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/devices.h"

namespace tandem {
namespace {

TEST(ListDevicesTest, SaysThatTheProgramWasBuiltWithoutGpus) {
  const MachineDevices machine = ListDevices();
  EXPECT_TRUE(machine.gpus.empty());
  EXPECT_THAT(machine.no_gpu, testing::HasSubstr("built without devices of class 'gpu'"));
  ASSERT_EQ(machine.libraries.size(), 1u);
  EXPECT_EQ(machine.libraries[0].name, "LLVM");
}

}  // namespace
}  // namespace tandem
