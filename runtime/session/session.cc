#include "runtime/session/session.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "runtime/collectives/process_group.h"
#include "runtime/format/index.h"
#include "runtime/session/device_class.h"

namespace tandem {

absl::StatusOr<std::unique_ptr<Session>> Session::Create(const DeviceClass& device_class,
                                                         std::shared_ptr<const Executable> executable,
                                                         std::shared_ptr<VariableStore> variables, Options options) {
  if (executable == nullptr || variables == nullptr || options.pool == nullptr) {
    return absl::InvalidArgumentError("a session needs an executable, variables and a thread pool");
  }
  const format::Index& index = executable->index();
  for (const auto& replica : index.replicas) {
    if (replica.program != index.replicas[0].program) {
      return absl::UnimplementedError(absl::StrCat(executable->name(), ": replicas with different programs"));
    }
  }
  if (DeviceClassName(*executable) != device_class.name()) {
    return WithExitCode(absl::FailedPreconditionError(
                            absl::StrCat(executable->name(), ": compiled for devices of class \"",
                                         DeviceClassName(*executable), "\", not \"", device_class.name(), "\"")),
                        kExitUsage);
  }
  bool updates = false;
  for (const auto& v : index.variables) updates |= v.updated;
  const int devices = variables->num_devices(), processes = options.group != nullptr ? options.group->size() : 1;
  if (executable->num_replicas() % processes != 0) {
    return absl::FailedPreconditionError(absl::StrCat(executable->name(), ": ", executable->num_replicas(),
                                                      " replicas cannot be dealt out to ", processes,
                                                      " processes; give each as many devices"));
  }
  const int replicas = executable->num_replicas() / processes;
  if (!options.devices.empty() && static_cast<int>(options.devices.size()) != replicas) {
    return absl::FailedPreconditionError(
        absl::StrCat(executable->name(), ": ", options.devices.size(), " devices for ", replicas, " replicas"));
  }
  if (replicas > devices || (updates && replicas != devices)) {
    return absl::FailedPreconditionError(absl::StrCat(executable->name(), ": ", replicas, " replicas",
                                                      updates ? " that update variables" : "",
                                                      ", but the variables live on ", devices, " devices"));
  }
  const std::string name = executable->name();
  return CatchResourceErrors(
      name, [&] { return device_class.NewSession(std::move(executable), std::move(variables), std::move(options)); });
}

absl::string_view DeviceClassName(const Executable& executable) {
  const format::Index& index = executable.index();
  return index.programs[index.replicas[0].program].device_class;
}

absl::StatusOr<std::unique_ptr<Session>> Session::MakeSibling(std::shared_ptr<ThreadPool>) {
  return absl::UnimplementedError("sessions of this device class make one step at a time");
}

absl::Status CreateSessionVariables(const Executable& executable, VariableStore& variables) {
  for (const auto& v : executable.index().variables) {
    TD_RETURN_IF_ERROR(variables.Create({v.name, v.dtype, v.shape, v.trainable, v.slot_of, false}));
  }
  return absl::OkStatus();
}

}  // namespace tandem
