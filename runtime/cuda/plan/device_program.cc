#include "runtime/cuda/plan/device_program.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/env.h"
#include "base/exit_code.h"
#include "base/status_macros.h"
#include "runtime/commands/command.h"
#include "runtime/commands/gpu_launch.h"
#include "runtime/cuda/driver/leave_alone.h"
#include "runtime/cuda/libraries/plan_choices.h"

namespace tandem {
namespace {

absl::Status Unusable(const std::string& message) {
  return WithExitCode(absl::FailedPreconditionError(message), kExitUsage);
}

// Returns the newest image that the device can run.
absl::StatusOr<const format::GpuImage*> ImageFor(const Executable& executable, const CudaDevice& device) {
  const format::GpuImage* best = nullptr;
  std::vector<std::string> has;
  for (const auto& image : executable.index().images) {
    has.push_back(absl::StrCat("sm_", image.arch));
    if (static_cast<int>(image.arch) <= device.compute_capability()) best = &image;
  }
  if (best != nullptr) return best;
  return Unusable(absl::StrCat(executable.name(), ": compiled for ", has.empty() ? "no GPU" : absl::StrJoin(has, ", "),
                               "; ", device.name(), " (", device.model(), ") is sm_", device.compute_capability(),
                               ": compile it for --target=cuda:sm_", device.compute_capability(), " or older"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<DeviceProgram>> DeviceProgram::Load(const Executable& executable,
                                                                   std::shared_ptr<CudaDevice> device,
                                                                   const std::string& plan_file) {
  auto program = std::unique_ptr<DeviceProgram>(new DeviceProgram());
  program->device_ = device;
  TD_RETURN_IF_ERROR(device->MakeCurrent());
  const format::Program& p = executable.index().programs[executable.index().replicas[0].program];
  program->workspace_bytes_ = p.gpu->workspace_bytes;
  TD_RETURN_IF_ERROR(program->LoadKernels(executable, *device));
  TD_RETURN_IF_ERROR(program->PrepareCalls(executable, plan_file));
  return program;
}

DeviceProgram::~DeviceProgram() {
  if (device_ == nullptr || !device_->lost()) return;
  for (std::unique_ptr<PreparedCall>& call : calls_) LeaveAlone(std::move(call));
  LeaveAlone(std::move(runner_));
}

absl::Status DeviceProgram::LoadKernels(const Executable& executable, CudaDevice& device) {
  const format::Index& index = executable.index();
  functions_.resize(index.kernels.size());
  if (index.kernels.empty()) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(const format::GpuImage* image, ImageFor(executable, device));
  // the driver needs a zero byte at the end, which a string has
  const std::string text(executable.segment(image->segment));
  const DriverApi& driver = device.driver();
  std::vector<char> log(8192);
  int options[] = {kCudaJitErrorLogBuffer, kCudaJitErrorLogBufferSize};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  CUmodule module = nullptr;
  const CUresult result = driver.cuModuleLoadDataEx(&module, text.c_str(), 2, options, values);
  if (result == kCudaUnsupportedPtxVersion) {
    int version = 0;
    driver.cuDriverGetVersion(&version);
    return Unusable(absl::StrCat(executable.name(), ": the NVIDIA driver (for CUDA ", version / 1000, ".",
                                 version % 1000 / 10, ") is too old for the executable's PTX: install a newer driver"));
  }
  if (result != kCudaSuccess) {
    return Annotate(CudaStatus(driver, result, "cuModuleLoadDataEx"), absl::StrCat(executable.name(), ": "),
                    log[0] == 0 ? "" : absl::StrCat(": ", log.data()));
  }
  module_ = CudaModule(device_, module);
  auto get = [&](const std::string& symbol, uint32_t shared_bytes, CUfunction* function) -> absl::Status {
    if (driver.cuModuleGetFunction(function, module, symbol.c_str()) != kCudaSuccess) {
      return WithExitCode(absl::DataLossError(absl::StrCat(executable.name(), ": its PTX for sm_", image->arch,
                                                           " has no kernel ", symbol)),
                          kExitBadData);
    }
    if (shared_bytes <= (48u << 10)) return absl::OkStatus();
    TD_CU(driver, cuFuncSetAttribute(*function, kCudaFunctionMaxDynamicShared, static_cast<int>(shared_bytes)));
    return absl::OkStatus();
  };
  for (size_t k = 0; k < index.kernels.size(); ++k) {
    const format::Kernel& kernel = index.kernels[k];
    if (!kernel.gpu) continue;
    workspace_bytes_ = std::max(workspace_bytes_, kernel.gpu->scratch_bytes);
    TD_RETURN_IF_ERROR(get(kernel.symbol, kernel.gpu->shared_bytes, &functions_[k].main));
  }
  for (const auto& command : CommandsInOrder(index.programs[index.replicas[0].program])) {
    const std::optional<KernelLaunches> launches = command->launches();
    if (!launches || !launches->grouped || !index.kernels[launches->kernel].gpu) continue;
    const std::string symbol = GpuGroupSymbol(index.kernels[launches->kernel].symbol);
    const CUresult found = driver.cuModuleGetFunction(&functions_[launches->kernel].group, module, symbol.c_str());
    if (found != kCudaSuccess && found != kCudaNotFound) return CudaStatus(driver, found, "cuModuleGetFunction");
  }
  return absl::OkStatus();
}

absl::Status DeviceProgram::PrepareCalls(const Executable& executable, const std::string& plan_file) {
  const format::Program& program = executable.index().programs[executable.index().replicas[0].program];
  const std::vector<std::unique_ptr<Command>> commands = CommandsInOrder(program);
  calls_.resize(commands.size());
  std::unique_ptr<PlanFile> plans;
  for (size_t i = 0; i < commands.size(); ++i) {
    workspace_bytes_ = std::max(workspace_bytes_, commands[i]->WorkspaceBytes({executable.index(), program}));
    const format::Command& table = commands[i]->table();
    const format::LibraryCall* call = table.body.As<format::LibraryCall>();
    if (call == nullptr) continue;
    if (runner_ == nullptr) {
      TD_ASSIGN_OR_RETURN(plans, PlanFile::Open(Env::Default(), plan_file));
      LibraryCallRunner::Options options;
      options.device_name = device_->model();
      options.autotune = plans != nullptr;
      options.choices = plans == nullptr ? nullptr : plans->choices();
      TD_ASSIGN_OR_RETURN(runner_, LibraryCallRunner::Create(&device_->driver(), std::move(options)));
    }
    const absl::string_view plan = call->plan == 0 ? "" : executable.segment(static_cast<int>(call->plan) - 1);
    absl::StatusOr<std::unique_ptr<PreparedCall>> prepared = runner_->Prepare(*call, plan);
    if (!prepared.ok()) {
      const std::string at = executable.LocationString(table.location);
      return Annotate(prepared.status(), absl::StrCat(table.name, ": "), at.empty() ? "" : absl::StrCat(" [", at, "]"));
    }
    calls_[i] = *std::move(prepared);
    workspace_bytes_ = std::max(workspace_bytes_, calls_[i]->workspace_bytes());
  }
  return plans == nullptr ? absl::OkStatus() : plans->Save();
}

}  // namespace tandem
