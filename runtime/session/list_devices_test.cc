#include "runtime/session/list_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/exit_code.h"

namespace tandem {
namespace {

TEST(ListDevices, AsksTheListerOfTheClass) {
  ASSERT_TRUE(RegisterDeviceLister("abacus", [] { return std::vector<DeviceInfo>{{"wooden", 0, 7}}; }));
  EXPECT_FALSE(RegisterDeviceLister("abacus", [] { return std::vector<DeviceInfo>(); })) << "the first one stays";
  const absl::StatusOr<std::vector<DeviceInfo>> devices = ListDevices("abacus");
  ASSERT_TRUE(devices.ok()) << devices.status();
  ASSERT_EQ(devices->size(), 1u);
  EXPECT_EQ((*devices)[0].model, "wooden");
}

TEST(ListDevices, GivesTheListersError) {
  ASSERT_TRUE(RegisterDeviceLister("broken", [] { return absl::UnavailableError("no beads"); }));
  EXPECT_EQ(ListDevices("broken").status(), absl::UnavailableError("no beads"));
}

TEST(ListDevices, NamesAClassThatIsNotLinkedIn) {
  const absl::Status status = ListDevices("gpu").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ExitCodeFor(status), kExitUsage);
  EXPECT_THAT(status.message(), testing::HasSubstr("built without devices of class 'gpu'"));
}

}  // namespace
}  // namespace tandem
