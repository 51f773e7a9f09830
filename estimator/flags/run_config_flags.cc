#include "estimator/flags/run_config_flags.h"

#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/dtype.h"
#include "base/output_file.h"
#include "base/status_macros.h"
#include "estimator/checkpoint/model_dir.h"

ABSL_FLAG(std::string, trace, "",
          "Write a Chrome trace of some steps to this file: what every thread did when, how fast, and what limits it. "
          "For chrome://tracing and ui.perfetto.dev.");
ABSL_FLAG(std::string, trace_steps, "10-14", "FIRST-LAST of the steps in the trace, counted from 0 in this process.");
ABSL_FLAG(
    std::string, precision, "float32",
    "Of arithmetic: float32, strict_float32 (no Winograd), or mixed_bfloat16 (convolutions and matmuls; variables "
    "stay float32).");
ABSL_FLAG(std::string, target, "",
          "What programs are compiled for: cpu:native, cpu:x86-64-v3, cpu:znver4, cuda:sm_90, ...; empty: as the "
          "devices are.");
ABSL_FLAG(int, accumulate_batches, 1,
          "Batches of each replica that make one step, as one batch so many times as large.");
ABSL_FLAG(int64_t, check_steps_every, 0,
          "Make one step in so many twice and compare the bits, to find broken hardware; CPUs only. 0: none.");
ABSL_FLAG(bool, tf32, false, "On GPUs, let convolutions and matmuls round float32 operands to TensorFloat-32.");
ABSL_FLAG(
    double, deadline_secs, 0,
    "Seconds without a sign of life of another worker, or that a step on GPUs may take, before a worker or GPU is "
    "taken for lost and training ends with exit code 75; 0: 30 and 600.");
ABSL_FLAG(
    std::string, strategy, "auto",
    "How the model is trained: mirrored (by this process alone), central (the same, with one copy of the variables "
    "for all devices), multi_worker (by all workers of a cluster together), parameter_server (by each worker of a "
    "cluster for itself, with servers that keep the variables), or auto (parameter_server where the environment "
    "describes a cluster with tasks of type ps, multi_worker where it describes another one).");
ABSL_FLAG(
    std::string, communication, "auto",
    "How workers exchange gradients: auto (shared memory on one host, else TCP; GPUs: NCCL), shared_memory, tcp, ring "
    "(TCP, in an order that gives other bits than one process), or nccl (GPUs only).");
ABSL_FLAG(std::string, communication_dtype, "float32",
          "Of gradients while they are added up over CPU devices and workers: float32, or bfloat16 (half the bytes, "
          "rounded).");
ABSL_FLAG(
    std::string, cross_device_ops, "",
    "How the values of a process's CPU devices are added up: ReductionToOneDevice or HierarchicalCopyAllReduce, in "
    "orders that give other bits than the binary tree over all devices does. Empty: the tree.");
ABSL_FLAG(std::string, gpu_plans, "",
          "On GPUs, a file with the plans of library calls that were measured to be the fastest: what it lacks is "
          "measured and added. Empty: no measuring.");
ABSL_FLAG(bool, deterministic, false,
          "On more than two GPUs, add up in the order of a binary tree: the same bits for any number of GPUs.");
ABSL_FLAG(bool, compile_only, false,
          "Compile the programs of training and evaluation into <model_dir>/compiled and stop; needs no GPU.");

namespace tandem {

DistributionStrategy DevicesFromFlag(const std::string& devices) {
  const bool gpu = absl::StartsWith(absl::GetFlag(FLAGS_target), "cuda:");
  return StrategyFromFlag(devices == "auto" && gpu && absl::GetFlag(FLAGS_compile_only) ? "gpu:0" : devices);
}

absl::Status CheckOutputFiles(const RunConfig& config, const std::vector<std::pair<std::string, std::string>>& files) {
  if (!config.model_dir.empty()) TD_RETURN_IF_ERROR(PrepareModelDir(config.file_env(), config.model_dir));
  for (const auto& [flag, path] : files) {
    if (!path.empty()) TD_RETURN_IF_ERROR(CheckOutputFile(config.file_env(), flag, path));
  }
  return absl::OkStatus();
}

absl::Status ApplyRunConfigFlags(RunConfig* config) {
  TD_ASSIGN_OR_RETURN(config->precision, PrecisionFromName(absl::GetFlag(FLAGS_precision)));
  config->target = absl::GetFlag(FLAGS_target);
  config->tf32 = absl::GetFlag(FLAGS_tf32);
  if (const double seconds = absl::GetFlag(FLAGS_deadline_secs); seconds != 0) {
    config->peer_deadline_secs = seconds;
    if (config->train_strategy().gpu()) config->deadline_secs = seconds;
  }
  config->accumulate_batches = absl::GetFlag(FLAGS_accumulate_batches);
  config->check_steps_every = absl::GetFlag(FLAGS_check_steps_every);
  const std::string strategy = absl::GetFlag(FLAGS_strategy);
  DistributionStrategy chosen = config->train_strategy();
  if (strategy == "mirrored") {
    chosen = MirroredStrategy(chosen.devices);
  } else if (strategy == "central") {
    chosen = CentralStorageStrategy(chosen.devices);
  } else if (strategy == "multi_worker") {
    chosen = MultiWorkerMirroredStrategy(chosen.devices);
  } else if (strategy == "parameter_server") {
    chosen = ParameterServerStrategy(chosen.devices);
  } else if (strategy != "auto") {
    return absl::InvalidArgumentError(absl::StrCat(
        "--strategy=", strategy, " is unknown; use auto, mirrored, central, multi_worker or parameter_server"));
  }
  chosen.cross_device_ops = absl::GetFlag(FLAGS_cross_device_ops);
  config->train_distribute = chosen;
  TD_ASSIGN_OR_RETURN(config->communication, CommunicationFromName(absl::GetFlag(FLAGS_communication)));
  const std::string dtype = absl::GetFlag(FLAGS_communication_dtype);
  if (dtype != Name(DType::kFloat32) && dtype != Name(DType::kBFloat16)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--communication_dtype=", dtype, " is unknown; use float32 or bfloat16"));
  }
  config->communication_dtype = dtype == Name(DType::kBFloat16) ? DType::kBFloat16 : DType::kFloat32;
  config->gpu_plans = absl::GetFlag(FLAGS_gpu_plans);
  config->deterministic = absl::GetFlag(FLAGS_deterministic);
  config->compile_only = absl::GetFlag(FLAGS_compile_only);
  config->trace = absl::GetFlag(FLAGS_trace);
  config->trace_steps = absl::GetFlag(FLAGS_trace_steps);
  return absl::OkStatus();
}

}  // namespace tandem
