// RunConfig: how and where an Estimator runs; the model itself is not part of it.
#ifndef TANDEM_ESTIMATOR_CONFIG_RUN_CONFIG_H_
#define TANDEM_ESTIMATOR_CONFIG_RUN_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tandem/base/api.h"
#include "tandem/base/communication.h"
#include "tandem/base/dtype.h"
#include "tandem/base/env.h"
#include "tandem/base/owned_process.h"
#include "tandem/base/precision.h"
#include "tandem/cluster/cluster.h"
#include "tandem/cluster/tls_files.h"
#include "tandem/estimator/config/auto_shard.h"
#include "tandem/estimator/config/keep_best.h"
#include "tandem/estimator/config/strategy.h"
#include "tandem/estimator/config/warm_start_settings.h"

namespace TANDEM_API tandem {

// Validated when the Estimator is made; every call of the Estimator returns the error.
struct RunConfig {
  // The directory of checkpoints, compiled programs and evaluation records. Created if it does not exist. If empty: a
  // temporary folder.
  std::string model_dir = "";
  // The seed of initialisers, dropout and everything random in the graph. A run restored from a checkpoint keeps the
  // seed that it began with. If not set: 0.
  std::optional<int64_t> seed = std::nullopt;

  // When to save: every so many steps or seconds; set at most one of them. If neither is set: every 600 seconds. A
  // value of 0 turns checkpoints off. With checkpoints on, the first and the last step are saved too.
  std::optional<int64_t> save_checkpoints_steps = std::nullopt;
  std::optional<double> save_checkpoints_secs = std::nullopt;
  int keep_checkpoint_max = 5;  // number of newest checkpoints that are kept; 0: all
  // Checkpoints to keep besides the newest ones (docs/guide/choosing.md): those of the best evaluations, which
  // Estimator::best() then follows, and one for every so many hours of training; 0: none.
  std::optional<KeepBest> keep_best = std::nullopt;
  double keep_checkpoint_every_n_hours = 0;

  // Steps between log lines with the loss and with global_step/sec; 0 turns both off.
  int64_t log_step_count_steps = 100;
  // Steps between points of the training curves in TensorBoard (tensorboard --logdir MODEL_DIR); evaluations have their
  // event files in eval[_NAME]. 0: no event files at all.
  int64_t save_summary_steps = 100;

  // Record eight bytes for each step beside the event files (docs/guide/replay.md): its loss and samples of its input
  // and of the variables. They show whether a replayed step is the same, and tandem-compare uses them to find where two
  // runs diverge. Only trainings with checkpoints and without parameter servers are recorded.
  bool record_bits = true;
  // Make one of every so many steps twice, from the same variables and batch, and compare the bits. Training ends with
  // exit code 1 at the first step whose bits differ (because of broken hardware or a race) and says what differs. Such
  // a step takes twice as long. On CPUs only, and not with parameter servers. 0: never.
  int64_t check_steps_every = 0;

  // The devices. If not set: one replica on cpu:0 (of each worker, in a cluster). Evaluation and prediction use
  // eval_distribute or, if it is not set, train_distribute; it may not have more devices than train_distribute, where
  // the variables live.
  std::optional<DistributionStrategy> train_distribute = std::nullopt;
  std::optional<DistributionStrategy> eval_distribute = std::nullopt;

  // The processes that train together. If not set: those that the environment describes (docs/guide/cluster.md), or
  // this process alone.
  std::optional<Cluster> cluster = std::nullopt;
  // How workers exchange gradients.
  Communication communication = Communication::kAuto;
  // The type of gradients while they are added up over devices and workers that train in step, on CPUs. kBFloat16
  // halves the bytes to send, with 8 bits of precision: each device's sum is rounded, and so is every addition of two
  // of them. A fixed binary tree gives the order of additions, so that bits do not depend on how devices are spread
  // over workers. With one device nothing is rounded. Losses, metrics, statistics of batches and single numbers stay
  // float32.
  DType communication_dtype = DType::kFloat32;
  // Seconds without a sign of life of a worker before it is considered lost: training ends on all others with an error
  // that names it (exit code 75), and the last checkpoint stays. At the start, workers wait ten times as long for each
  // other.
  double peer_deadline_secs = 30;
  // Encrypts the connections over which workers find each other and agree on what they do, and the traffic of parameter
  // servers, and admits only peers with a certificate of the same CA (docs/guide/cluster.md#encryption). If not set:
  // the files that the environment names, if any.
  std::optional<TlsFiles> tls = std::nullopt;

  // With parameter servers: how many updates other workers may make between a worker's reading of variables and its own
  // update; workers that are ahead wait. If not set there is no bound.
  std::optional<int64_t> max_staleness = std::nullopt;

  // How workers share the input. kBatch: all read the same input, and each takes its own batches. kFile: each reads its
  // share of the input's files. kOff: input_fn gives each worker an input of its own.
  AutoShard auto_shard = AutoShard::kBatch;

  // Batches of each replica that make one step: the gradients are those of a batch that is so many times as large, bit
  // for bit, and a step counts once. Training only. The program computes in microbatches, so activations take no more
  // memory; the batches themselves are in memory together.
  int accumulate_batches = 1;

  // Threads of this process for all its replicas together, at most 1024. 0: the number of the machine's cores, or a
  // container's limit, or this worker's share of them if several workers are on one machine. Results do not depend on
  // it.
  int threads = 0;
  // Parts of the global batch. The gradient of each part is computed by one thread, and the parts are added in one
  // fixed order, so the bits are the same on up to so many devices. Must be a power of two times the odd part of the
  // number of devices: 1, 2, 4, ... on 1, 2 or 4 devices; 3, 6, 12, ... on 3 or 6. 0: the compiler chooses.
  int lanes = 0;
  // Rows of a lane (one of the `lanes` parts of the global batch) that are computed at a time. 0: the compiler chooses.
  int microbatch_rows = 0;

  // The precision of the arithmetic (base/precision.h). Variables, checkpoints, inputs and outputs are float32 in any
  // case, so a run may go on from a checkpoint of another precision.
  Precision precision = Precision::kFloat32;
  // With mixed_bfloat16: ops that do not follow their default rule.
  PrecisionLists mixed_precision_lists = {};

  // The target that programs are compiled for: "cpu:native", "cpu:x86-64-v3", "cpu:znver4", "cuda:sm_90" and so on
  // (CompileOptions::target). If empty: this machine's CPU, or the strategy's GPU with the lowest compute capability.
  // All CPU programs of a process use one set of instructions: FailedPrecondition for a second one
  // (docs/developers/internals.md).
  std::string target = "";
  // GPUs: convolutions and matmuls may round float32 operands to TensorFloat-32 (10 bits of mantissa instead of 23).
  bool tf32 = false;
  // Seconds that workers wait for a worker that is alive but slow in a step, a checkpoint or an evaluation, and that a
  // step on GPUs may take (with its waiting for other GPUs), before it is considered lost: training ends with an error
  // that names who did not finish (exit code 75), and the last checkpoint stays.
  double deadline_secs = 600;
  // GPUs: a file with the plans of convolutions and matmuls that were measured to be the fastest. Plans in it are
  // reused, so that results repeat; missing ones are measured when the program is loaded, and added. If empty: the file
  // named by the environment variable TANDEM_GPU_PLANS or, without it, the libraries' default plans.
  std::string gpu_plans = "";
  // GPUs: add sums over more than two GPUs in the order of a binary tree, as on CPUs, so that they have the same bits
  // for any number of GPUs. NCCL's own order, which may be faster, depends on how the GPUs are linked.
  bool deterministic = false;
  // Only compile: Train and Evaluate compile their programs, write them to the directory of compiled programs and
  // return; no device is needed. With `target`, programs for a GPU are made on a machine without one.
  bool compile_only = false;

  // Bytes that a program may use on a device: variables, sums and activations, with four threads. The compiler
  // recomputes values instead of keeping them until it fits; if it cannot, compiling fails and names the largest ones.
  // 0: no limit. Results do not depend on it.
  int64_t memory_limit = 0;

  // First values of variables, from another training.
  std::optional<WarmStartSettings> warm_start_from = std::nullopt;

  // Whether compiled programs are stored on disk, in compile_cache_dir or, if that is empty, in <model_dir>/compiled.
  bool compile_cache = true;
  std::string compile_cache_dir = "";

  // Finish the step, save and return on SIGINT, SIGTERM and SIGHUP; ignore SIGPIPE. By default in programs that
  // RunProgram (base/program.h) runs; signals of others are for their own handlers, unless they ask for it here.
  bool handle_signals = OwnsProcess();
  // If input, a save, or reading a checkpoint takes longer than so many seconds, the log says so, and again when it
  // goes on. 0: never.
  double stall_warning_secs = 10;
  // Names of warnings to switch off (estimator/config/warnings.h).
  std::vector<std::string> silence = {};
  // If false, a step with a NaN or infinity ends training without an error. Such a step changes no variable either way.
  bool fail_on_nan = true;
  // Show a line with examples/s and loss that is rewritten in place, if stderr is a terminal.
  bool progress = true;

  // File for a Chrome trace of some steps (chrome://tracing, ui.perfetto.dev): see estimator/trace/tracer.h and
  // docs/guide/profiling.md. If empty: the file that the environment variable TANDEM_TRACE names, or none.
  std::string trace = "";
  // The steps to trace, FIRST-LAST, counted from 0 in this process; TANDEM_TRACE_STEPS is used with TANDEM_TRACE.
  std::string trace_steps = "10-14";

  Env* env = nullptr;  // the file system and clock; null: Env::Default()

  // Returns all that is wrong with this configuration, in one InvalidArgument error. Does not check for the machine's
  // devices; CheckDevices does (FailedPrecondition, exit code 2).
  absl::Status Validate() const;
  absl::Status CheckDevices() const;
  // Returns "{model_dir: /tmp/m, seed: 0, ...}", one line.
  std::string ToString() const;
  // Returns the fields of ToString as names and values.
  std::vector<std::pair<std::string, std::string>> Fields() const;

  // Returns `cluster` or, if it is not set, what the environment describes; nothing if this process trains alone.
  // InvalidArgument (exit code 2) for an impossible description (cluster/resolver.h).
  absl::StatusOr<std::optional<Cluster>> ResolvedCluster() const;
  // Returns `tls` or, if it is not set, the files that the environment names (cluster/tls_files.h).
  absl::StatusOr<std::optional<TlsFiles>> ResolvedTls() const;
  // Returns the number of replicas of a training step, over all workers.
  absl::StatusOr<int> TotalReplicas() const;
  // If the cluster has fewer workers than the training was begun with (Cluster::full_world_size), returns a copy in
  // which the missing workers' devices are dealt out to the others, so that steps stay the same. Otherwise returns an
  // unchanged copy.
  absl::StatusOr<RunConfig> WithDevicesOfMissingWorkers() const;

  bool checkpoints_enabled() const;
  int64_t checkpoint_steps() const;  // 0 if checkpoints are not saved by steps
  double checkpoint_secs() const;    // 0 if checkpoints are not saved by time
  DistributionStrategy train_strategy() const {
    return train_distribute.value_or(DistributionStrategy{.multi_worker = true});
  }
  DistributionStrategy eval_strategy() const { return eval_distribute.value_or(train_strategy()); }
  Env* file_env() const { return env ? env : Env::Default(); }
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CONFIG_RUN_CONFIG_H_
