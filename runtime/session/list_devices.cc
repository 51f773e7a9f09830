#include "runtime/session/list_devices.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"

namespace tandem {
namespace {

std::map<std::string, DeviceLister>& DeviceListers() {
  static std::map<std::string, DeviceLister>& listers = *new std::map<std::string, DeviceLister>();
  return listers;
}

}  // namespace

absl::StatusOr<std::vector<DeviceInfo>> ListDevices(const std::string& device_class) {
  auto found = DeviceListers().find(device_class);
  if (found == DeviceListers().end()) {
    return WithExitCode(absl::FailedPreconditionError(
                            absl::StrCat("this program was built without devices of class '", device_class, "'")),
                        kExitUsage);
  }
  return found->second();
}

bool RegisterDeviceLister(const std::string& device_class, DeviceLister lister) {
  return DeviceListers().emplace(device_class, std::move(lister)).second;
}

}  // namespace tandem
