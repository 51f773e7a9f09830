#include "runtime/cuda/device/list_gpus.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/cuda/driver/driver_api.h"

namespace tandem {

absl::StatusOr<std::vector<DeviceInfo>> ListGpus() {
  TD_ASSIGN_OR_RETURN(const DriverApi* driver, LoadDriver());
  int count = 0, version = 0;
  TD_CU(*driver, cuDriverGetVersion(&version));
  TD_CU(*driver, cuDeviceGetCount(&count));
  std::vector<DeviceInfo> gpus;
  for (int i = 0; i < count; ++i) {
    CUdevice device = 0;
    char model[256] = "";
    int major = 0, minor = 0;
    size_t bytes = 0;
    TD_CU(*driver, cuDeviceGet(&device, i));
    TD_CU(*driver, cuDeviceGetName(model, sizeof(model), device));
    TD_CU(*driver, cuDeviceGetAttribute(&major, kCudaAttributeComputeMajor, device));
    TD_CU(*driver, cuDeviceGetAttribute(&minor, kCudaAttributeComputeMinor, device));
    TD_CU(*driver, cuDeviceTotalMem_v2(&bytes, device));
    model[sizeof(model) - 1] = '\0';
    gpus.push_back({model, 10 * major + minor, bytes, absl::StrCat(version / 1000, ".", version % 1000 / 10)});
  }
  return gpus;
}

}  // namespace tandem
