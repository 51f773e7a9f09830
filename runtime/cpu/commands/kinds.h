// The kinds of commands on CPUs. Kinds whose classes other code uses have headers of their own.
#ifndef TANDEM_RUNTIME_CPU_COMMANDS_KINDS_H_
#define TANDEM_RUNTIME_CPU_COMMANDS_KINDS_H_

#include <memory>

#include "runtime/cpu/commands/cpu_command.h"

namespace tandem {

using CpuCommandOr = absl::StatusOr<std::unique_ptr<CpuCommand>>;

CpuCommandOr NewCpuAllReduce(const PlanContext& context, const format::Command& table);
CpuCommandOr NewCpuCheckFinite(const PlanContext& context, const format::Command& table);
// Prepares an all-reduce whose collective names cross-device ops. FailedPrecondition when this process has none of that
// name.
CpuCommandOr NewCpuCrossDeviceReduce(const PlanContext& context, const format::Command& table);
CpuCommandOr NewCpuCopy(const PlanContext& context, const format::Command& table);
CpuCommandOr NewCpuLaneReduce(const PlanContext& context, const format::Command& table);
CpuCommandOr NewCpuLibraryCall(const PlanContext& context, const format::Command& table);
CpuCommandOr NewCpuScatterAdd(const PlanContext& context, const format::Command& table);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_COMMANDS_KINDS_H_
