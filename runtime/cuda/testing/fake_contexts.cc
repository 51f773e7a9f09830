// Devices and contexts of the fake driver.
#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/cuda/testing/fake_driver_state.h"

namespace tandem {
namespace {

using State = FakeDriverState;

thread_local uint64_t t_owner = 0;  // generation of the fake that the thread's context belongs to
thread_local FakeContext* t_current = nullptr;

const char* Name(CUresult error) {
  switch (error) {
    case kCudaInvalidValue:
      return "CUDA_ERROR_INVALID_VALUE";
    case kCudaOutOfMemory:
      return "CUDA_ERROR_OUT_OF_MEMORY";
    case kCudaNoDevice:
      return "CUDA_ERROR_NO_DEVICE";
    case kCudaInvalidDevice:
      return "CUDA_ERROR_INVALID_DEVICE";
    case kCudaEccUncorrectable:
      return "CUDA_ERROR_ECC_UNCORRECTABLE";
    case kCudaInvalidPtx:
      return "CUDA_ERROR_INVALID_PTX";
    case kCudaUnsupportedPtxVersion:
      return "CUDA_ERROR_UNSUPPORTED_PTX_VERSION";
    case kCudaIllegalAddress:
      return "CUDA_ERROR_ILLEGAL_ADDRESS";
    case kCudaLaunchFailed:
      return "CUDA_ERROR_LAUNCH_FAILED";
    case kCudaCaptureInvalidated:
      return "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED";
    default:
      return "CUDA_ERROR_OTHER";
  }
}

CUresult Attribute(int* value, int attribute, CUdevice device) {
  State::Entry entry("cuDeviceGetAttribute");
  const int capability = entry.state().options.compute_capability;
  switch (attribute) {
    case kCudaAttributeComputeMajor:
      *value = capability / 10;
      return entry.result();
    case kCudaAttributeComputeMinor:
      *value = capability % 10;
      return entry.result();
    case kCudaAttributeMultiprocessors:
      *value = 4;
      return entry.result();
    case kCudaAttributeMaxSharedPerBlockOptin:
      *value = 64 << 10;
      return entry.result();
    default:
      return kCudaInvalidValue;
  }
}

}  // namespace

FakeContext* FakeDriverState::CurrentContext() { return t_owner == generation ? t_current : nullptr; }

void BindFakeContexts(DriverApi& api) {
  api.cuInit = [](unsigned) {
    State::Entry entry("cuInit");
    return entry.result() == kCudaSuccess && entry.state().options.gpus == 0 ? kCudaNoDevice : entry.result();
  };
  api.cuDriverGetVersion = [](int* version) {
    State::Entry entry("cuDriverGetVersion");
    *version = entry.state().options.version;
    return entry.result();
  };
  api.cuGetErrorName = [](CUresult error, const char** name) { return *name = Name(error), kCudaSuccess; };
  api.cuGetErrorString = [](CUresult, const char** text) { return *text = "by the fake driver", kCudaSuccess; };
  api.cuDeviceGetCount = [](int* count) {
    State::Entry entry("cuDeviceGetCount");
    *count = entry.state().options.gpus;
    return entry.result();
  };
  api.cuDeviceGet = [](CUdevice* device, int ordinal) {
    State::Entry entry("cuDeviceGet");
    if (ordinal < 0 || ordinal >= entry.state().options.gpus) return kCudaInvalidDevice;
    *device = ordinal;
    return entry.result();
  };
  api.cuDeviceGetName = [](char* name, int length, CUdevice) {
    State::Entry entry("cuDeviceGetName");
    std::strncpy(name, "Fake GPU", length);
    return entry.result();
  };
  api.cuDeviceGetAttribute = Attribute;
  api.cuDeviceTotalMem_v2 = [](size_t* bytes, CUdevice) {
    State::Entry entry("cuDeviceTotalMem_v2");
    *bytes = entry.state().options.memory_bytes;
    return entry.result();
  };
  api.cuDevicePrimaryCtxRetain = [](CUcontext* context, CUdevice device) {
    State::Entry entry("cuDevicePrimaryCtxRetain");
    if (entry.result() != kCudaSuccess) return entry.result();
    FakeContext* c = entry.state().contexts[device].get();
    ++c->retained;
    *context = reinterpret_cast<CUcontext>(c);
    return kCudaSuccess;
  };
  api.cuDevicePrimaryCtxRelease_v2 = [](CUdevice device) {
    State::Entry entry("cuDevicePrimaryCtxRelease_v2");
    FakeContext& c = *entry.state().contexts[device];
    if (c.retained <= 0) return kCudaInvalidContext;
    if (--c.retained == 0) {
      entry.state().CheckLeaks(c);
      c.broken = kCudaSuccess;
    }
    return kCudaSuccess;
  };
  api.cuCtxSetCurrent = [](CUcontext context) {
    State::Entry entry("cuCtxSetCurrent");
    if (entry.result() != kCudaSuccess) return entry.result();
    t_owner = entry.state().generation;
    t_current = reinterpret_cast<FakeContext*>(context);
    return kCudaSuccess;
  };
}

}  // namespace tandem
