// The device class "cpu": devices are shares of this process.
#ifndef TANDEM_RUNTIME_CPU_RUN_CPU_DEVICE_CLASS_H_
#define TANDEM_RUNTIME_CPU_RUN_CPU_DEVICE_CLASS_H_

#include "runtime/session/device_class.h"

namespace tandem {

const DeviceClass& CpuDeviceClass();

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_RUN_CPU_DEVICE_CLASS_H_
