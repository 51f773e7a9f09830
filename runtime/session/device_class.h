// DeviceClass: all that is particular to a kind of devices. //runtime:device_classes has the table of all classes, by
// which programs find them.
#ifndef TANDEM_RUNTIME_SESSION_DEVICE_CLASS_H_
#define TANDEM_RUNTIME_SESSION_DEVICE_CLASS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/loaded_library.h"
#include "runtime/executable/executable.h"
#include "runtime/session/kernel_library.h"
#include "runtime/session/session.h"
#include "runtime/variables/variable_store.h"

namespace tandem {

struct DeviceInfo {
  std::string model;           // "NVIDIA H200"
  int compute_capability = 0;  // for GPUs: 90 for 9.0
  uint64_t memory_bytes = 0;
  std::string driver = "";  // for GPUs: the newest CUDA version that the driver supports, "12.4"
};

class DeviceClass {
 public:
  virtual ~DeviceClass() = default;

  // Returns the name that executables and devices have: "cpu" for "cpu:0", "gpu" for "gpu:0".
  virtual absl::string_view name() const = 0;

  // Makes a session. Called by Session::Create, which has checked that the executable has one program for all replicas,
  // compiled for this class, and that the store has enough devices.
  virtual absl::StatusOr<std::unique_ptr<Session>> NewSession(std::shared_ptr<const Executable> executable,
                                                              std::shared_ptr<VariableStore> variables,
                                                              Session::Options options) const = 0;

  // Returns what the compiler asks about library calls. It lives for ever.
  virtual const KernelLibrary& kernel_library() const = 0;

  // Returns the devices of this machine; device i of the class "gpu" is "gpu:i". Allocates no memory on any of them.
  // Errors are the class's own, such as a missing driver (FailedPrecondition, exit code 2).
  virtual absl::StatusOr<std::vector<DeviceInfo>> ListDevices() const = 0;

  // Returns the libraries with which the class computes. Loads those that are found at run time.
  virtual std::vector<LoadedLibrary> ListLibraries() const = 0;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_SESSION_DEVICE_CLASS_H_
