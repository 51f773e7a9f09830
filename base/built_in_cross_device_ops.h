// Cross-device ops that come with Tandem, by the names that TensorFlow's users know.
#ifndef TANDEM_BASE_BUILT_IN_CROSS_DEVICE_OPS_H_
#define TANDEM_BASE_BUILT_IN_CROSS_DEVICE_OPS_H_

#include <map>
#include <string>

#include "base/cross_device_ops.h"

namespace tandem {

// Returns what makes each of them, by name.
std::map<std::string, CrossDeviceOpsFactory, std::less<>> BuiltInCrossDeviceOps();

}  // namespace tandem

#endif  // TANDEM_BASE_BUILT_IN_CROSS_DEVICE_OPS_H_
