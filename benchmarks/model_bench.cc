// benchmarks/model_bench: measures the compiled training or evaluation step of a model on random data in memory.
//
// Alone it prints rates, memory and compile time:
//   bazel-bin/benchmarks/model_bench --model=resnet50 --seconds=10
// With --worker it waits for commands on standard input and answers with one line of JSON each, so that it can run in
// turns with the programs of benchmarks/peers (worker.py there does the same): "run N" runs N steps; "quit" or the end
// of the input ends it. --model=matmul is the 1024^3 product with which the steps are compared.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/exit_code.h"
#include "base/flags.h"
#include "base/median.h"
#include "base/process_start.h"
#include "base/processor_time.h"
#include "base/status_macros.h"
#include "base/timing.h"
#include "benchmarks/bench_program.h"
#include "benchmarks/matmul_rate.h"
#include "benchmarks/models/keras_models.h"
#include "benchmarks/models/model.h"
#include "benchmarks/worker.h"
#include "nlohmann/json.hpp"
#include "passes/compile/compile.h"
#include "runtime/device_classes/device_classes.h"
#include "runtime/executable/command_info.h"
#include "runtime/format/index.h"
#include "runtime/session/session.h"

ABSL_FLAG(std::string, model, "s0",
          "s0, s2, s4, linear, mlp, transformer, vgg16, resnet50, keras_vgg16 or keras_resnet50 (with the networks of "
          "keras::applications), or matmul");
ABSL_FLAG(std::string, mode, "train", "train, or eval: the loss only, with moving averages and without dropout");
ABSL_FLAG(int, batch, 0, "global batch size, divided among the devices; 0: the model's own");
ABSL_FLAG(std::vector<std::string>, devices, (std::vector<std::string>{"cpu:0"}), "devices, one replica each");
ABSL_FLAG(std::string, target, "", "what to compile for, for example cuda:sm_90; empty: as the devices are");
ABSL_FLAG(int, threads, 2, "threads of the step");
ABSL_FLAG(std::string, precision, "float32", "float32, strict_float32 or mixed_bfloat16");
ABSL_FLAG(bool, all_layers, false, "vgg16: train every layer, not the last block and the classifier only");
ABSL_FLAG(int, image_size, 0, "height and width of the images of vgg16 and resnet50; 0: 224");
ABSL_FLAG(int, tokens, 0, "tokens of an example of the Transformer; 0: 128");
ABSL_FLAG(bool, tf32, false, "on GPUs, products and convolutions of float32 numbers may round them to TensorFloat-32");
ABSL_FLAG(int, lanes, 0, "lanes of the global batch; 0: the compiler chooses");
ABSL_FLAG(int, microbatch_rows, 0, "examples per kernel call; 0: the compiler chooses");
ABSL_FLAG(std::string, cache_dir, "", "folder for compiled programs; empty: none, every run compiles");
ABSL_FLAG(double, deadline_secs, 600, "GPUs: how long a step may take before the GPU is given up");
ABSL_FLAG(bool, worker, false, "obey commands on standard input");
ABSL_FLAG(double, seconds, 3, "without --worker: how long to measure");
ABSL_FLAG(int, steps, 0, "without --worker: measure this many steps instead");
ABSL_FLAG(bool, profile, false,
          "without --worker: also run with a clock around every command and print where time goes");

namespace tandem::benchmarks {
namespace {

using Clock = std::chrono::steady_clock;

// Something to measure: calling `step` runs one step, and the other members describe the step.
struct Work {
  std::string name;
  int64_t batch = 1;
  double flops_per_step = 0;
  BenchProgram program;  // not set for the matrix product
  nlohmann::json command_work =
      nlohmann::json::array();                   // for each command of the program: operations and bytes on one device
  std::function<absl::StatusOr<double>()> step;  // runs a step and returns the loss
  // Returns the processor time on this machine, in seconds, of all steps so far.
  std::function<double()> host_seconds = ProcessProcessorSeconds;
};

// Returns the value of CompileOptions::target for the devices.
absl::StatusOr<std::string> Target(const std::vector<std::string>& devices) {
  if (std::string target = absl::GetFlag(FLAGS_target); !target.empty()) return target;
  if (devices.empty() || !absl::StartsWith(devices[0], "gpu:")) return "cpu:native";
  TD_ASSIGN_OR_RETURN(const std::vector<DeviceInfo> gpus, ListDevices("gpu"));
  int sm = gpus[0].compute_capability;
  for (const DeviceInfo& gpu : gpus) sm = std::min(sm, gpu.compute_capability);
  return GpuTargetName(sm);
}

absl::StatusOr<Work> PrepareModel(bool time_commands) {
  const std::string mode = absl::GetFlag(FLAGS_mode);
  if (mode != "train" && mode != "eval") {
    return absl::InvalidArgumentError(absl::StrCat("--mode: \"", mode, "\" is neither train nor eval"));
  }
  ModelOptions model_options{.training = mode == "train",
                             .all_layers = absl::GetFlag(FLAGS_all_layers),
                             .image_size = absl::GetFlag(FLAGS_image_size),
                             .tokens = absl::GetFlag(FLAGS_tokens)};
  const std::string name = absl::GetFlag(FLAGS_model);
  TD_ASSIGN_OR_RETURN(BenchModel model, absl::StartsWith(name, "keras_") ? MakeKerasModel(name, model_options)
                                                                         : MakeModel(name, model_options));
  CompileOptions options;
  options.devices = absl::GetFlag(FLAGS_devices);
  TD_ASSIGN_OR_RETURN(options.target, Target(options.devices));
  const int replicas = static_cast<int>(options.devices.size());
  Work work;
  work.name = model.name;
  work.batch = absl::GetFlag(FLAGS_batch) == 0 ? model.default_batch : absl::GetFlag(FLAGS_batch);
  if (work.batch < 1 || work.batch % replicas != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--batch: ", work.batch, " rows cannot be divided among ", replicas, " devices"));
  }
  TD_ASSIGN_OR_RETURN(options.precision, PrecisionFromName(absl::GetFlag(FLAGS_precision)));
  options.tf32 = absl::GetFlag(FLAGS_tf32);
  options.batch_per_replica = work.batch / replicas;
  options.threads = absl::GetFlag(FLAGS_threads);
  options.lanes = absl::GetFlag(FLAGS_lanes);
  options.microbatch_rows = absl::GetFlag(FLAGS_microbatch_rows);
  options.cache_dir = absl::GetFlag(FLAGS_cache_dir);

  const double deadline = absl::GetFlag(FLAGS_deadline_secs);
  if (!(deadline > 0)) return absl::InvalidArgumentError(absl::StrCat("--deadline_secs: ", deadline, " is not over 0"));
  TD_ASSIGN_OR_RETURN(work.program, PrepareProgram(model, options, time_commands, deadline));
  work.flops_per_step = work.program.flops_per_step;
  for (const CommandInfo& command : ListCommands(*work.program.executable)) {
    if (command.table == nullptr) continue;
    work.command_work.push_back(
        {command.work.Flops(options.batch_per_replica), command.work.Bytes(options.batch_per_replica)});
  }
  auto program = std::make_shared<BenchProgram>(work.program);
  work.step = [program] { return program->Step(); };
  // On a CPU, the threads compute, and their processor time counts. For a GPU, they issue work and then wait by
  // polling, which takes processor time too, so that only the time to issue counts.
  const bool issues = program->session->CanPrefetch();
  work.host_seconds = [program, issues] { return issues ? program->issue_seconds : ProcessProcessorSeconds(); };
  return work;
}

absl::StatusOr<Work> Prepare() {
  if (absl::GetFlag(FLAGS_model) != "matmul") return PrepareModel(false);
  auto matmul = std::make_shared<Matmul>(absl::GetFlag(FLAGS_threads));
  Work work;
  work.name = "matmul";
  work.flops_per_step = Matmul::kFlops;
  work.step = [matmul]() -> absl::StatusOr<double> {
    matmul->Run();
    return 0.0;
  };
  return work;
}

// Runs `steps` steps and returns the seconds per step. Sets *loss to the loss of the last step.
absl::StatusOr<double> Run(const Work& work, int64_t steps, double* loss) {
  Clock::time_point start = Clock::now();
  for (int64_t i = 0; i < steps; ++i) {
    TD_ASSIGN_OR_RETURN(*loss, work.step());
  }
  return SecondsSince(start) / static_cast<double>(steps);
}

absl::Status Obey(const Work& work, double first_loss) {
  double loss = 0;
  TD_ASSIGN_OR_RETURN(double second_step, Run(work, 1, &loss));  // the first step has warmed up memory and caches
  Answer({{"event", "ready"},
          {"model", work.name},
          {"batch", work.batch},
          {"parameters", work.program.parameters},
          {"flops_per_step", work.flops_per_step},
          {"work", work.command_work},
          {"first_loss", first_loss},
          {"second_loss", loss},
          {"seconds_per_step", second_step},
          {"compile_seconds", work.program.compile_seconds},
          {"peak_rss_bytes", PeakRssBytes()}});
  return ObeyCommands([&](int64_t steps) -> absl::StatusOr<nlohmann::json> {
    const double host_start = work.host_seconds();
    TD_ASSIGN_OR_RETURN(const double seconds, Run(work, steps, &loss));
    return nlohmann::json{{"seconds_per_step", seconds},
                          {"host_seconds_per_step", (work.host_seconds() - host_start) / static_cast<double>(steps)},
                          {"loss", loss}};
  });
}

// Prints where `steps` steps spend their time. The first steps do not count, because they touch the pages of the
// buffers' memory for the first time, and a kernel that does so looks a hundred times slower than it is.
absl::Status PrintProfile(const Work& work, int64_t steps) {
  double loss = 0;
  TD_RETURN_IF_ERROR(Run(work, 2, &loss).status());
  const std::vector<CommandTime> before = work.program.session->command_times();
  TD_RETURN_IF_ERROR(Run(work, steps, &loss).status());
  std::vector<CommandTime> times = work.program.session->command_times();
  for (size_t i = 0; i < times.size(); ++i) times[i].seconds -= before[i].seconds;
  double all = 0;
  for (const CommandTime& t : times) all += t.seconds;
  std::stable_sort(times.begin(), times.end(),
                   [](const CommandTime& a, const CommandTime& b) { return a.seconds > b.seconds; });
  std::printf(
      "share of the steps' time (map: summed over threads; global: as the caller sees it), microseconds a step\n");
  for (const CommandTime& t : times) {
    if (t.seconds < 0.005 * all) break;
    std::printf("  %5.1f %%  %8.1f  %-6s %-13s %s  [%s]\n", 100 * t.seconds / all,
                1e6 * t.seconds / static_cast<double>(steps), t.section.c_str(), t.kind.c_str(), t.name.c_str(),
                t.detail.c_str());
  }
  // The times are also summed by kind of work, for work that many layers do a little of.
  std::map<std::string, std::pair<double, int>> by_detail;  // for each kind: seconds, and number of commands
  for (const CommandTime& t : times) {
    std::string key = t.detail;
    if (key.rfind("kernel_", 0) == 0) key = key.substr(std::min(key.size(), key.find(' ') + 1));
    auto& [seconds, count] = by_detail[t.section + "  " + key];
    seconds += t.seconds;
    ++count;
  }
  std::vector<std::pair<double, std::string>> sums;
  for (const auto& [key, sum] : by_detail) {
    sums.push_back({sum.first, absl::StrCat(sum.second, " commands  ", key)});
  }
  std::sort(sums.rbegin(), sums.rend());
  std::printf("by what runs\n");
  for (const auto& [seconds, text] : sums) {
    if (seconds < 0.002 * all) break;
    std::printf("  %5.1f %%  %8.2f ms  %s\n", 100 * seconds / all, 1e3 * seconds, text.c_str());
  }
  return absl::OkStatus();
}

// Runs blocks of steps for --seconds seconds, and prints the median block.
absl::Status Report(const Work& work, double first_loss) {
  const BenchProgram& program = work.program;
  if (program.session != nullptr) {
    const format::Index& index = program.executable->index();
    std::printf("built in %.3f s, compiled in %.3f s, session and variables in %.3f s; first step done after %.2f s\n",
                program.build_seconds, program.compile_seconds, program.create_seconds, SecondsSinceProcessStart());
    std::printf("%lld parameters; lanes %d x %d rows, microbatches of %d rows; arenas %.1f MiB\n",
                static_cast<long long>(program.parameters), static_cast<int>(index.lanes),
                static_cast<int>(index.rows_per_lane), static_cast<int>(index.microbatch_rows),
                static_cast<double>(program.session->memory().total()) / 1048576);
  }
  double loss = first_loss;
  std::fflush(stdout);
  TD_ASSIGN_OR_RETURN(double estimate, Run(work, 1, &loss));
  int64_t block = std::max<int64_t>(1, static_cast<int64_t>(absl::GetFlag(FLAGS_seconds) / 9 / estimate));
  if (absl::GetFlag(FLAGS_steps) > 0) block = absl::GetFlag(FLAGS_steps);
  std::vector<double> blocks, cpu_blocks;
  Clock::time_point start = Clock::now();
  do {
    const double cpu = ProcessProcessorSeconds();
    TD_ASSIGN_OR_RETURN(double seconds, Run(work, block, &loss));
    blocks.push_back(seconds);
    cpu_blocks.push_back((ProcessProcessorSeconds() - cpu) / static_cast<double>(block));
  } while (absl::GetFlag(FLAGS_steps) == 0 && SecondsSince(start) < absl::GetFlag(FLAGS_seconds));
  const double seconds = Median(blocks);
  std::printf(
      "%s batch %lld: %.3f steps/s  %.1f examples/s  %.1f GFLOP/s  %.6f s/step  %.6f s CPU  loss %.4f -> %.4f  peak "
      "RSS %.1f MiB\n",
      work.name.c_str(), static_cast<long long>(work.batch), 1 / seconds, static_cast<double>(work.batch) / seconds,
      1e-9 * work.flops_per_step / seconds, seconds, Median(cpu_blocks), first_loss, loss, PeakRssBytes() / 1048576);
  if (!absl::GetFlag(FLAGS_profile) || program.session == nullptr) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(Work timed, PrepareModel(true));
  return PrintProfile(timed, block);
}

absl::Status Main() {
  TD_ASSIGN_OR_RETURN(Work work, Prepare());
  TD_ASSIGN_OR_RETURN(double first_loss, work.step());
  if (!absl::GetFlag(FLAGS_worker)) return Report(work, first_loss);
  Answer({{"event", "first_step"}, {"seconds_since_start", SecondsSinceProcessStart()}});
  return Obey(work, first_loss);
}

}  // namespace
}  // namespace tandem::benchmarks

int main(int argc, char** argv) {
  if (std::optional<int> code = tandem::ParseFlags(argc, argv, "a model's compiled step on random data")) {
    return *code;
  }
  absl::Status status = tandem::benchmarks::Main();
  if (!status.ok()) std::cerr << "model_bench: " << status.message() << "\n";
  return tandem::ExitCodeFor(status);
}
