// RunConfig: how and where an Estimator runs, as opposed to what it computes.
#ifndef TANDEM_ESTIMATOR_RUN_CONFIG_H_
#define TANDEM_ESTIMATOR_RUN_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/communication.h"
#include "base/dtype.h"
#include "base/env.h"
#include "base/precision.h"
#include "cluster/cluster.h"
#include "cluster/tls_files.h"
#include "estimator/auto_shard.h"
#include "estimator/keep_best.h"
#include "estimator/strategy.h"
#include "estimator/warm_start_settings.h"

namespace tandem {

// Validated when the Estimator is made; an error comes back from every call of the Estimator.
struct RunConfig {
  // Checkpoints, compiled programs and evaluation records. Created when it does not exist. Empty: a temporary folder.
  std::string model_dir = "";
  // Of initialisers, dropout and everything random in the graph. A run restored from a checkpoint keeps the seed it
  // began with. Without a value: 0.
  std::optional<int64_t> seed = std::nullopt;

  // When to save: every so many steps, or seconds; at most one of them. Without either: every 600 seconds. A value
  // of 0 turns checkpoints off. With checkpoints on, the first and the last step are saved too.
  std::optional<int64_t> save_checkpoints_steps = std::nullopt;
  std::optional<double> save_checkpoints_secs = std::nullopt;
  int keep_checkpoint_max = 5;  // 0 keeps all
  // What stays besides the newest ones (docs/guide/choosing.md): the checkpoints of the best evaluations, which
  // Estimator::best() then goes by, and one of every so many hours of training; 0: none.
  std::optional<KeepBest> keep_best = std::nullopt;
  double keep_checkpoint_every_n_hours = 0;

  // Steps between lines with the loss and with global_step/sec; 0 turns both off.
  int64_t log_step_count_steps = 100;
  // Steps between points of training in TensorBoard (tensorboard --logdir MODEL_DIR); evaluations have theirs in
  // eval[_NAME]. 0: no event files at all.
  int64_t save_summary_steps = 100;

  // Whether to record, beside the event files, eight bytes of each step (docs/guide/replay.md): its loss and samples of
  // its input and of the variables, by which a step that is made again is known to be the same, and tandem-compare
  // finds where two runs part. Trainings with checkpoints only, and without parameter servers.
  bool record_bits = true;
  // Steps between those that are made twice, from the same variables and batch, and whose bits are compared: training
  // ends with exit code 1 at the first that does not come out the same, by broken hardware or a race, and says what
  // differs. Such a step takes twice as long. On CPUs, and not with parameter servers. 0: none is.
  int64_t check_steps_every = 0;

  // One replica on cpu:0 unless given, of each worker where there is a cluster. Evaluation and prediction use
  // eval_distribute, or train_distribute without it; it may not have more devices than train_distribute, where the
  // variables live.
  std::optional<DistributionStrategy> train_distribute = std::nullopt;
  std::optional<DistributionStrategy> eval_distribute = std::nullopt;

  // The processes that train together. Without a value: those that the environment describes (docs/guide/cluster.md),
  // else this one alone.
  std::optional<Cluster> cluster = std::nullopt;
  // How workers exchange gradients.
  Communication communication = Communication::kAuto;
  // Of gradients while they are added up over devices and workers that train in step, on CPUs. kBFloat16: half the
  // bytes to send, for 8 bits of precision: each device's sum is rounded, and so is every addition of two of them, in
  // the order of the tree, so that bits do not depend on how devices are spread over workers. With one device nothing
  // is rounded. Losses, metrics, statistics of batches and single numbers stay float32.
  DType communication_dtype = DType::kFloat32;
  // Seconds without a sign of life of a worker, before it is taken for lost: training ends on all others with an error
  // that names it (exit code 75), and the last checkpoint stands. And how long workers wait for each other at the
  // start, times ten.
  double peer_deadline_secs = 30;
  // Encrypts where workers meet and what parameter servers are sent, and lets only those in who have a certificate of
  // the same CA (docs/guide/cluster.md#encryption). Without a value: the files that the environment names, if it does.
  std::optional<TlsFiles> tls = std::nullopt;

  // With parameter servers: updates that other workers may make between a worker's reading of variables and its own
  // update; those that are ahead wait. Without a value there is no bound.
  std::optional<int64_t> max_staleness = std::nullopt;

  // Whether all workers get the same input and each takes its batches, or input_fn gives each an input of its own.
  AutoShard auto_shard = AutoShard::kBatch;

  // Batches of each replica that make one step: the gradients are those of a batch that is so many times as large, bit
  // for bit, and a step counts once. Training only. The program computes microbatches, so that activations take no
  // more memory; the batches themselves are there at once.
  int accumulate_batches = 1;

  // Threads of this process, all its replicas together, at most 1024; 0 takes the machine's number of cores, or what a
  // container is limited to, or this worker's share of them where several are on one machine. Results do not depend on
  // it.
  int threads = 0;
  // Parts of the global batch. The gradient of one is computed by one thread, and they are added in one fixed order, so
  // that the bits are the same on up to so many devices. A power of two times the odd part of the number of devices: 1,
  // 2, 4, ... on 1, 2 or 4; 3, 6, 12, ... on 3 or 6. 0: the compiler chooses.
  int lanes = 0;
  // Rows of a lane that are computed at once. 0: the compiler chooses.
  int microbatch_rows = 0;

  // How exact arithmetic has to be (base/precision.h). Variables, checkpoints, inputs and outputs are float32 in any
  // case, so that a run may go on from a checkpoint of another precision.
  Precision precision = Precision::kFloat32;
  // With mixed_bfloat16: ops that shall not follow their own rule.
  PrecisionLists mixed_precision_lists = {};

  // What programs are compiled for: "cpu:native", "cpu:x86-64-v3", "cpu:znver4", "cuda:sm_90" and so on
  // (CompileOptions::target). Empty: this machine's CPU, or the least of the GPUs of the strategy. All CPU programs of
  // a process are for one set of instructions: FailedPrecondition for a second one (docs/developers/internals.md).
  std::string target = "";
  // GPUs: convolutions and matmuls may round float32 operands to TensorFloat-32 (10 bits of mantissa instead of 23).
  bool tf32 = false;
  // Seconds that workers wait for one that lives but is slow in a step, a checkpoint or an evaluation, and that a step
  // of GPUs may take, its waiting for other GPUs included, before one of them is taken for lost: training ends with an
  // error that names who did not finish (exit code 75), and the last checkpoint stands.
  double deadline_secs = 600;
  // GPUs: a file with the plans of convolutions and matmuls that were measured to be the fastest. What it holds is
  // repeated, so that results are; what it lacks is measured when the program is loaded, and added. Empty: the file
  // that the environment variable TANDEM_GPU_PLANS names, or without it what the libraries prefer.
  std::string gpu_plans = "";
  // GPUs: sums over more than two GPUs are added in the order of a binary tree, as on CPUs, and so have the same bits
  // for any number of them. NCCL's own order, which may be faster, depends on how the GPUs are linked.
  bool deterministic = false;
  // Train and Evaluate compile their programs, write them to the directory of compiled programs and return; no device
  // is needed. With `target`, programs for a GPU are made on a machine without one.
  bool compile_only = false;

  // Bytes that a program may take on a device: variables, sums and activations, with four threads. The compiler
  // computes values again, instead of keeping them, until it fits; when it cannot, compiling fails and says what is
  // largest. 0: no limit. Results do not depend on it.
  int64_t memory_limit = 0;

  std::optional<WarmStartSettings> warm_start_from = std::nullopt;

  // Compiled programs are kept in <model_dir>/compiled, or in this directory.
  bool compile_cache = true;
  std::string compile_cache_dir = "";

  // Finish the step, save and return on SIGINT, SIGTERM and SIGHUP; take no SIGPIPE.
  bool handle_signals = true;
  // Input, a save, or reading a checkpoint that takes longer than so many seconds is named in the log, and again when
  // it goes on. 0: never.
  double stall_warning_secs = 10;
  // Names of warnings that are not wanted (estimator/warnings.h).
  std::vector<std::string> silence = {};
  // False: a step with a NaN or infinity ends training without an error. No such step changes a variable either way.
  bool fail_on_nan = true;
  // A line with examples/s and loss that is rewritten in place, when stderr is a terminal.
  bool progress = true;

  // A file for a Chrome trace of some steps (chrome://tracing, ui.perfetto.dev): see estimator/trace/tracer.h and
  // docs/guide/profiling.md. Empty: none, unless the environment variable TANDEM_TRACE names one.
  std::string trace = "";
  // FIRST-LAST of the steps to trace, counted from 0 in this process; TANDEM_TRACE_STEPS goes with TANDEM_TRACE.
  std::string trace_steps = "10-14";

  Env* env = nullptr;  // Env::Default() when null

  // All that is wrong with it, in one InvalidArgument error. Does not look at the machine's devices: CheckDevices does
  // (FailedPrecondition, exit code 2).
  absl::Status Validate() const;
  absl::Status CheckDevices() const;
  // "{model_dir: /tmp/m, seed: 0, ...}", one line.
  std::string ToString() const;
  // The same as names and values.
  std::vector<std::pair<std::string, std::string>> Fields() const;

  // The value of `cluster`, else what the environment describes; nothing when this process trains alone.
  // InvalidArgument (exit code 2) for a description that cannot be (cluster/resolver.h).
  absl::StatusOr<std::optional<Cluster>> ResolvedCluster() const;
  // The value of `tls`, else what the environment names (cluster/tls_files.h).
  absl::StatusOr<std::optional<TlsFiles>> ResolvedTls() const;
  // The replicas that a training step runs on, over all workers.
  absl::StatusOr<int> TotalReplicas() const;
  // Where the cluster has fewer workers than the training was begun with (Cluster::full_world_size): with the devices
  // of those that are missing dealt out to the others, so that steps stay the same. Otherwise as it is.
  absl::StatusOr<RunConfig> WithDevicesOfMissingWorkers() const;

  bool checkpoints_enabled() const;
  int64_t checkpoint_steps() const;  // 0 when not by steps
  double checkpoint_secs() const;    // 0 when not by time
  DistributionStrategy train_strategy() const {
    return train_distribute.value_or(DistributionStrategy{.multi_worker = true});
  }
  DistributionStrategy eval_strategy() const { return eval_distribute.value_or(train_strategy()); }
  Env* file_env() const { return env ? env : Env::Default(); }
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_RUN_CONFIG_H_
