// The table of all device classes, and what programs ask about a class by its name. Nothing registers itself: a class
// is in every program that links //runtime:device_classes, and a program without that library does not link.
#ifndef TANDEM_RUNTIME_DEVICE_CLASSES_DEVICE_CLASSES_H_
#define TANDEM_RUNTIME_DEVICE_CLASSES_DEVICE_CLASSES_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/loaded_library.h"
#include "runtime/executable/executable.h"
#include "runtime/session/device_class.h"
#include "runtime/session/kernel_library.h"
#include "runtime/session/session.h"
#include "runtime/variables/variable_store.h"

namespace tandem {

// Returns all device classes, in the order of their names.
absl::Span<const DeviceClass* const> DeviceClasses();

// Returns the class with this name. FailedPrecondition (exit code 2) if there is none.
absl::StatusOr<const DeviceClass*> FindDeviceClass(absl::string_view name);

// Makes a session of the class that the executable was compiled for. Errors: those of Session::Create.
absl::StatusOr<std::unique_ptr<Session>> CreateSession(std::shared_ptr<const Executable> executable,
                                                       std::shared_ptr<VariableStore> variables,
                                                       Session::Options options);

// Returns the kernel library of a class. Errors: those of FindDeviceClass.
absl::StatusOr<const KernelLibrary*> KernelLibraryOf(absl::string_view device_class);

// Returns the devices of a class. Errors: those of FindDeviceClass and of DeviceClass::ListDevices.
absl::StatusOr<std::vector<DeviceInfo>> ListDevices(absl::string_view device_class);

// Returns the libraries of all device classes, in the order of their names. Loads those that are found at run time.
std::vector<LoadedLibrary> ListLibraries();

}  // namespace tandem

#endif  // TANDEM_RUNTIME_DEVICE_CLASSES_DEVICE_CLASSES_H_
