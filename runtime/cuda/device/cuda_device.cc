#include "runtime/cuda/device/cuda_device.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/exit_code.h"
#include "base/status_macros.h"
#include "runtime/cuda/device/device_snapshot.h"
#include "runtime/cuda/driver/memory_calls.h"

namespace tandem {
namespace {

std::atomic<int> g_devices{0};
std::atomic<uint64_t> g_next_id{1};
thread_local uint64_t t_current = 0;  // id of the device whose context this thread made current last

std::mutex g_registry_mutex;
std::map<std::pair<const DriverApi*, int>, std::weak_ptr<CudaDevice>>& Registry() {
  static auto& registry = *new std::map<std::pair<const DriverApi*, int>, std::weak_ptr<CudaDevice>>();
  return registry;
}

}  // namespace

CudaDevice::CudaDevice(const DriverApi* driver, int ordinal)
    : driver_(driver), ordinal_(ordinal), name_(absl::StrCat("gpu:", ordinal)), id_(g_next_id++) {
  ++g_devices;
}

absl::StatusOr<std::shared_ptr<CudaDevice>> CudaDevice::Get(int ordinal) {
  TD_ASSIGN_OR_RETURN(const DriverApi* driver, LoadDriver());
  std::lock_guard<std::mutex> lock(g_registry_mutex);
  std::weak_ptr<CudaDevice>& known = Registry()[{driver, ordinal}];
  if (std::shared_ptr<CudaDevice> device = known.lock(); device != nullptr && !device->lost()) return device;
  auto device = std::shared_ptr<CudaDevice>(new CudaDevice(driver, ordinal));
  TD_RETURN_IF_ERROR(device->Check(device->Init()));
  known = device;
  return device;
}

absl::Status CudaDevice::Init() {
  int count = 0;
  TD_CU(*driver_, cuDeviceGetCount(&count));
  if (ordinal_ < 0 || ordinal_ >= count) {
    return WithExitCode(
        absl::FailedPreconditionError(
            absl::StrCat("there is no such device; ", count == 1 ? "the only GPU that can be seen is gpu:0"
                                                                 : absl::StrCat("there are gpu:0 to gpu:", count - 1))),
        kExitUsage);
  }
  TD_CU(*driver_, cuDeviceGet(&device_, ordinal_));
  char model[256] = "";
  int major = 0, minor = 0;
  TD_CU(*driver_, cuDeviceGetName(model, sizeof model - 1, device_));
  TD_CU(*driver_, cuDeviceGetAttribute(&major, kCudaAttributeComputeMajor, device_));
  TD_CU(*driver_, cuDeviceGetAttribute(&minor, kCudaAttributeComputeMinor, device_));
  model_ = model;
  compute_capability_ = major * 10 + minor;
  if (compute_capability_ < 75) {
    return WithExitCode(absl::FailedPreconditionError(absl::StrCat("its compute capability is ", major, ".", minor,
                                                                   ", and 7.5 or newer is needed")),
                        kExitUsage);
  }
  TD_CU(*driver_, cuDevicePrimaryCtxRetain(&context_, device_));
  TD_RETURN_IF_ERROR(MakeCurrent());
  TD_ASSIGN_OR_RETURN(kernels_, BuiltinKernels::Load(driver_));
  return absl::OkStatus();
}

CudaDevice::~CudaDevice() {
  if (context_ != nullptr) {
    if (lost_ || !MakeCurrent().ok()) {
      if (kernels_ != nullptr) kernels_->Forget();
      if (staging_ != nullptr) staging_->Forget();
      if (spare_staging_ != nullptr) spare_staging_->Forget();
    }
    staging_.reset();
    spare_staging_.reset();
    kernels_.reset();
    if (!lost_) driver_->cuDevicePrimaryCtxRelease_v2(device_);
  }
  --g_devices;
}

absl::Status CudaDevice::MakeCurrent() {
  if (lost_) return absl::UnavailableError(absl::StrCat(name_, ": the GPU was lost"));
  if (t_current == id_ && g_devices == 1) return absl::OkStatus();
  TD_CU(*driver_, cuCtxSetCurrent(context_));
  t_current = id_;
  return absl::OkStatus();
}

absl::Status CudaDevice::Check(const absl::Status& status) {
  if (status.ok()) return status;
  if (absl::IsUnavailable(status)) lost_ = true;
  if (absl::StrContains(status.message(), name_)) return status;
  return Annotate(status, absl::StrCat(name_, model_.empty() ? "" : absl::StrCat(" (", model_, ")"), ": "));
}

absl::StatusOr<uint64_t> CudaDevice::Allocate(uint64_t bytes, const std::string& what) {
  TD_RETURN_IF_ERROR(MakeCurrent());
  CUdeviceptr address = 0;
  const CUresult result = MemAlloc(*driver_, &address, bytes);
  if (result == kCudaSuccess) return address;
  if (result != kCudaOutOfMemory) return Check(CudaStatus(*driver_, result, "cuMemAlloc_v2"));
  size_t free = 0, total = 0;
  driver_->cuMemGetInfo_v2(&free, &total);
  return WithExitCode(
      absl::ResourceExhaustedError(absl::StrCat(name_, " (", model_, "): out of memory: ", bytes, " bytes for ", what,
                                                ", and ", free, " of ", total, " bytes are free")),
      kExitUsage);
}

void CudaDevice::Free(uint64_t address) {
  if (!lost_ && MakeCurrent().ok()) MemFree(*driver_, address);
}

absl::StatusOr<TransferStaging*> CudaDevice::GetStaging() {
  TD_RETURN_IF_ERROR(MakeCurrent());
  if (staging_ == nullptr) {
    TD_ASSIGN_OR_RETURN(staging_, TransferStaging::Create(driver_));
  }
  return staging_.get();
}

absl::StatusOr<std::unique_ptr<TransferStaging>> CudaDevice::TakeStaging() {
  TD_RETURN_IF_ERROR(MakeCurrent());
  {
    std::lock_guard<std::mutex> lock(spare_mutex_);
    if (spare_staging_ != nullptr) return std::move(spare_staging_);
  }
  return TransferStaging::Create(driver_);
}

void CudaDevice::GiveBackStaging(std::unique_ptr<TransferStaging> staging) {
  std::lock_guard<std::mutex> lock(spare_mutex_);
  if (spare_staging_ == nullptr) spare_staging_ = std::move(staging);
}

absl::Status CudaDevice::Upload(uint64_t address, const void* from, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(staging_mutex_);
  TD_ASSIGN_OR_RETURN(TransferStaging * staging, GetStaging());
  return Check(staging->Upload(address, from, bytes));
}

absl::Status CudaDevice::Download(absl::Span<const Region> regions) {
  std::lock_guard<std::mutex> lock(staging_mutex_);
  TD_ASSIGN_OR_RETURN(TransferStaging * staging, GetStaging());
  return Check(staging->Download(regions));
}

absl::StatusOr<std::unique_ptr<DeviceMemory::Snapshot>> CudaDevice::TakeSnapshot(absl::Span<const Region> regions) {
  absl::StatusOr<std::unique_ptr<DeviceSnapshot>> snapshot = DeviceSnapshot::Take(shared_from_this(), regions);
  if (!snapshot.ok()) return Check(snapshot.status());
  return std::unique_ptr<Snapshot>(*std::move(snapshot));
}

template <>
void CudaOwned<CUstream>::Destroy() {
  device_->driver().cuStreamDestroy_v2(handle_);
}
template <>
void CudaOwned<CUevent>::Destroy() {
  device_->driver().cuEventDestroy_v2(handle_);
}
template <>
void CudaOwned<CUmodule>::Destroy() {
  device_->driver().cuModuleUnload(handle_);
}
template <>
void CudaOwned<CUgraphExec>::Destroy() {
  device_->driver().cuGraphExecDestroy(handle_);
}
template <>
void CudaOwned<CUdeviceptr>::Destroy() {
  MemFree(device_->driver(), handle_);
}
template <>
void CudaOwned<void*>::Destroy() {
  MemFreeHost(device_->driver(), handle_);
}

absl::StatusOr<CudaStream> MakeStream(const std::shared_ptr<CudaDevice>& device) {
  TD_RETURN_IF_ERROR(device->MakeCurrent());
  CUstream stream = nullptr;
  TD_CU(device->driver(), cuStreamCreate(&stream, kCudaStreamNonBlocking));
  return CudaStream(device, stream);
}

absl::StatusOr<CudaEvent> MakeEvent(const std::shared_ptr<CudaDevice>& device, bool timing) {
  TD_RETURN_IF_ERROR(device->MakeCurrent());
  CUevent event = nullptr;
  TD_CU(device->driver(), cuEventCreate(&event, timing ? kCudaEventDefault : kCudaEventDisableTiming));
  return CudaEvent(device, event);
}

absl::StatusOr<PinnedMemory> MakePinned(const std::shared_ptr<CudaDevice>& device, uint64_t bytes) {
  TD_RETURN_IF_ERROR(device->MakeCurrent());
  void* memory = nullptr;
  const DriverApi& driver = device->driver();
  const CUresult made = MemHostAlloc(driver, &memory, std::max<uint64_t>(bytes, 1), kCudaHostAllocPortable);
  TD_RETURN_IF_ERROR(CudaStatus(driver, made, "cuMemHostAlloc"));
  std::memset(memory, 0, bytes);
  return PinnedMemory(device, memory);
}

}  // namespace tandem
