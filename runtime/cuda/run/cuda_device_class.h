// The device class "gpu": NVIDIA's GPUs.
#ifndef TANDEM_RUNTIME_CUDA_RUN_CUDA_DEVICE_CLASS_H_
#define TANDEM_RUNTIME_CUDA_RUN_CUDA_DEVICE_CLASS_H_

#include "runtime/session/device_class.h"

namespace tandem {

const DeviceClass& CudaDeviceClass();

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_RUN_CUDA_DEVICE_CLASS_H_
