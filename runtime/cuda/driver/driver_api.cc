#include "runtime/cuda/driver/driver_api.h"

#include <dlfcn.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

// The oldest CUDA version of a driver: PTX in executables needs at most PTX ISA 8.0, which came with CUDA 12.0.
constexpr int kOldestDriver = 12000;

absl::Status Unusable(const std::string& message) {
  return WithExitCode(absl::FailedPreconditionError(message), kExitUsage);
}

std::string Version(int version) { return absl::StrCat(version / 1000, ".", version % 1000 / 10); }

// Returns why a driver that is installed shows no GPU.
std::string NoGpuReason() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) return "the driver finds no NVIDIA GPU in this machine; train on cpu devices";
  return absl::StrCat("CUDA_VISIBLE_DEVICES=\"", visible,
                      "\" leaves no GPU visible; unset it or list the GPUs to use, e.g. CUDA_VISIBLE_DEVICES=0");
}

absl::StatusOr<DriverApi> LoadOnce() {
  TD_ASSIGN_OR_RETURN(DriverApi driver, BindDriver("libcuda.so.1"));
  TD_RETURN_IF_ERROR(InitDriver(driver));
  return driver;
}

}  // namespace

absl::StatusOr<DriverApi> BindDriver(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    return Unusable(absl::StrCat("there is no NVIDIA driver on this machine (", reason == nullptr ? path : reason,
                                 "); install one, or train on cpu devices"));
  }
  DriverApi driver;
#define TANDEM_BIND(name, parameters)                                                                                \
  driver.name = reinterpret_cast<CUresult(*) parameters>(dlsym(library, #name));                                     \
  if (driver.name == nullptr) {                                                                                      \
    return Unusable(absl::StrCat("the NVIDIA driver is too old: ", path, " has no " #name "; install one for CUDA ", \
                                 Version(kOldestDriver), " or newer"));                                              \
  }
  TANDEM_CUDA_DRIVER_API(TANDEM_BIND)
#undef TANDEM_BIND
  return driver;  // the library must stay loaded, because its functions are in use until the process ends
}

absl::Status InitDriver(const DriverApi& driver) {
  const CUresult init = driver.cuInit(0);
  if (init == kCudaNoDevice) return Unusable(NoGpuReason());
  if (init == kCudaSystemDriverMismatch) {
    return Unusable("the NVIDIA driver's library and its kernel module are of different versions: restart the machine");
  }
  if (init == kCudaStubLibrary) {
    return Unusable("libcuda.so.1 is the toolkit's stub: take its folder out of LD_LIBRARY_PATH");
  }
  if (absl::Status status = CudaStatus(driver, init, "cuInit"); !status.ok()) {
    return WithExitCode(status, kExitUsage);
  }
  int version = 0, count = 0;
  TD_CU(driver, cuDriverGetVersion(&version));
  if (version < kOldestDriver) {
    return Unusable(absl::StrCat("the NVIDIA driver is too old: it is for CUDA ", Version(version), ", and CUDA ",
                                 Version(kOldestDriver), " or newer is needed; install a newer driver"));
  }
  TD_CU(driver, cuDeviceGetCount(&count));
  return count > 0 ? absl::OkStatus() : Unusable(NoGpuReason());
}

absl::StatusOr<const DriverApi*> LoadDriver() {
  if (const DriverApi* driver = ScopedDriver::Current()) return driver;
  static const absl::StatusOr<DriverApi>& loaded = *new absl::StatusOr<DriverApi>(LoadOnce());
  if (!loaded.ok()) return loaded.status();
  return &*loaded;
}

absl::Status CudaStatus(const DriverApi& driver, CUresult result, absl::string_view call) {
  if (result == kCudaSuccess) return absl::OkStatus();
  const char *name = nullptr, *text = nullptr;
  if (driver.cuGetErrorName(result, &name) != kCudaSuccess || name == nullptr) name = "an unknown error";
  if (driver.cuGetErrorString(result, &text) != kCudaSuccess || text == nullptr) text = "";
  const std::string message =
      absl::StrCat(call.substr(0, call.find('(')), ": ", name, " (", text, ", code ", result, ")");
  switch (result) {
    case kCudaOutOfMemory:
      return WithExitCode(absl::ResourceExhaustedError(message), kExitUsage);
    case kCudaNoDevice:
    case kCudaInvalidDevice:
    case kCudaRequiresNewerDriver:
    case kCudaNoBinaryForGpu:
    case kCudaUnsupportedPtxVersion:
      return absl::FailedPreconditionError(message);
    case kCudaDeviceUnavailable:
    case kCudaEccUncorrectable:
    case kCudaNvlinkUncorrectable:
    case kCudaLaunchTimeout:
    case kCudaContextIsDestroyed:
    case kCudaHardwareStackError:
    case kCudaSystemNotReady:
    case kCudaUnknown:
      return absl::UnavailableError(absl::StrCat("the GPU was lost: ", message));
    default:
      return absl::InternalError(message);
  }
}

}  // namespace tandem
