// benchmarks/convnet: compares the compiled training steps of scenario S0's Fashion-MNIST convnet and of the linear
// model with the machine's matmul rate.
//
// In one process, alternating: a 1024^3 float32 oneDNN matmul on the same number of threads, and the compiled step
// (forward, backward, Adam) on random images. Prints images/s, GFLOP/s and the fraction of the matmul rate (medians).
// With --threads=1, all times but those of the profile are the thread's own CPU time.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/flags.h"
#include "base/median.h"
#include "base/status_macros.h"
#include "benchmarks/bench_program.h"
#include "benchmarks/matmul_rate.h"
#include "benchmarks/models/model.h"
#include "passes/compile/compile.h"
#include "runtime/session/session.h"

ABSL_FLAG(int, threads, 2, "threads of the step and of the matmul");
ABSL_FLAG(int, replicas, 1, "CPU devices");
ABSL_FLAG(int, rounds, 9, "alternations of matmul and step; medians are reported");
ABSL_FLAG(std::vector<std::string>, batch_sizes, (std::vector<std::string>{"512", "64"}), "global batch sizes");

ABSL_FLAG(int, microbatch_rows, 0, "images per kernel call; 0: the compiler chooses");
ABSL_FLAG(std::string, precision, "float32", "float32, strict_float32 or mixed_bfloat16");
ABSL_FLAG(bool, profile, false,
          "also run with a clock around every command and print where the time goes; the figures above are without it");

namespace tandem {
namespace {

// The clock of the measurements. With one thread it is that thread's CPU time, so that other programs on the machine
// matter less.
struct Clock {
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::nanoseconds;
  static time_point now() {
    timespec t;
    clock_gettime(absl::GetFlag(FLAGS_threads) == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
  }
};
double Seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

// Returns seconds per call of `fn`, measured over at least 0.2 s. The clock is read rarely, because it may take as long
// as a call.
double TimePerCall(const std::function<void()>& fn) {
  const Clock::time_point start = Clock::now();
  for (int calls = 0, more = 1;; more = calls) {
    for (int i = 0; i < more; ++i) fn();
    calls += more;
    if (double seconds = Seconds(Clock::now() - start); seconds >= 0.2) return seconds / calls;
  }
}

double MatmulGflopsPerSecond(benchmarks::Matmul& matmul) {
  return 1e-9 * benchmarks::Matmul::kFlops / TimePerCall([&] { matmul.Run(); });
}

// A compiled model of the benchmarks, and the first error of its steps.
struct Program {
  benchmarks::BenchProgram bench;
  absl::Status status;

  void Step() { status.Update(bench.Step().status()); }
};

absl::StatusOr<Program> Prepare(const std::string& name, int64_t global_batch, bool time_commands) {
  TD_ASSIGN_OR_RETURN(benchmarks::BenchModel model, benchmarks::MakeModel(name, {}));
  const int replicas = absl::GetFlag(FLAGS_replicas);
  CompileOptions options;
  options.devices.clear();
  for (int r = 0; r < replicas; ++r) options.devices.push_back(absl::StrCat("cpu:", r));
  options.batch_per_replica = global_batch / replicas;
  options.threads = absl::GetFlag(FLAGS_threads);
  options.microbatch_rows = absl::GetFlag(FLAGS_microbatch_rows);
  TD_ASSIGN_OR_RETURN(options.precision, PrecisionFromName(absl::GetFlag(FLAGS_precision)));
  Program program;
  TD_ASSIGN_OR_RETURN(program.bench, benchmarks::PrepareProgram(model, options, time_commands));
  return program;
}

// Prints how the threads spend their time: in commands of map sections (run for each microbatch), which each run on one
// thread; in commands of global sections (run once per device), which count for all threads; and in the rest, which is
// inputs, outputs, and waiting for the thread that finishes last.
absl::Status PrintProfile(Program program, int64_t examples, int steps) {
  for (int i = 0; i < steps / 10 + 1; ++i) program.Step();
  std::vector<CommandTime> before = program.bench.session->command_times();
  Clock::time_point start = Clock::now();
  for (int i = 0; i < steps; ++i) program.Step();
  const double threads = absl::GetFlag(FLAGS_threads), all = threads * Seconds(Clock::now() - start);
  TD_RETURN_IF_ERROR(program.status);
  std::vector<CommandTime> times = program.bench.session->command_times();
  std::map<std::string, double> groups;
  double rest = all;
  for (size_t i = 0; i < times.size(); ++i) {
    CommandTime& t = times[i];
    t.seconds = (t.seconds - before[i].seconds) * (t.section == "map" ? 1 : threads);
    groups[absl::StrCat(t.section, " ", t.kind)] += t.seconds;
    rest -= t.seconds;
  }
  std::sort(times.begin(), times.end(),
            [](const CommandTime& a, const CommandTime& b) { return a.seconds > b.seconds; });
  for (const auto& [name, seconds] : groups) std::printf("  %5.1f %%  %s\n", 100 * seconds / all, name.c_str());
  std::printf("  %5.1f %%  the rest\n", 100 * rest / all);
  const double per_example = 1e6 / (static_cast<double>(examples) * steps);
  for (const CommandTime& t : times) {
    if (t.seconds < 0.003 * all) break;
    std::printf("    %5.1f %% %8.3f us/example  %-6s %-13s %s  [%s]\n", 100 * t.seconds / all, t.seconds * per_example,
                t.section.c_str(), t.kind.c_str(), t.name.c_str(), t.detail.c_str());
  }
  return absl::OkStatus();
}

absl::Status Convnet(int64_t batch, benchmarks::Matmul& matmul) {
  TD_ASSIGN_OR_RETURN(Program program, Prepare("s0", batch, false));
  const double gflop = 1e-9 * program.bench.flops_per_step;
  for (int i = 0; i < 5; ++i) program.Step();  // these steps are not measured, but warm up memory and caches
  std::vector<double> rates, steps, fractions;
  for (int round = 0; round < absl::GetFlag(FLAGS_rounds); ++round) {
    double rate = MatmulGflopsPerSecond(matmul);
    double seconds = TimePerCall([&] { program.Step(); });
    rates.push_back(rate);
    steps.push_back(seconds);
    fractions.push_back(gflop / seconds / rate);
  }
  TD_RETURN_IF_ERROR(program.status);
  double seconds = Median(steps);
  std::printf(
      "convnet batch %4lld: %8.0f images/s  %7.1f GFLOP/s  %.3f of the 1024^3 matmul rate (%.1f GFLOP/s)  %.3f "
      "ms/step\n",
      static_cast<long long>(batch), batch / seconds, gflop / seconds, Median(fractions), Median(rates), 1e3 * seconds);
  if (!absl::GetFlag(FLAGS_profile)) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(Program timed, Prepare("s0", batch, true));
  return PrintProfile(std::move(timed), batch, static_cast<int>(10240 / batch) + 1);
}

absl::Status LinearModel() {
  TD_ASSIGN_OR_RETURN(Program program, Prepare("linear", 32, false));
  for (int i = 0; i < 100; ++i) program.Step();
  std::vector<double> steps;
  for (int round = 0; round < absl::GetFlag(FLAGS_rounds); ++round)
    steps.push_back(TimePerCall([&] { program.Step(); }));
  TD_RETURN_IF_ERROR(program.status);
  std::printf("linear model batch 32: %.2f microseconds/step\n", 1e6 * Median(steps));
  if (!absl::GetFlag(FLAGS_profile)) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(Program timed, Prepare("linear", 32, true));
  return PrintProfile(std::move(timed), 32, 10000);
}

absl::Status Main() {
  benchmarks::Matmul matmul(absl::GetFlag(FLAGS_threads));
  for (const std::string& batch : absl::GetFlag(FLAGS_batch_sizes)) {
    int64_t rows = 0;
    if (!absl::SimpleAtoi(batch, &rows) || rows < 1) {
      return absl::InvalidArgumentError(absl::StrCat("--batch_sizes: \"", batch, "\" is not a positive number"));
    }
    TD_RETURN_IF_ERROR(Convnet(rows, matmul));
  }
  return LinearModel();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  if (std::optional<int> code =
          tandem::ParseFlags(argc, argv, "the compiled convnet step against the machine's matmul rate"))
    return *code;
  absl::Status status = tandem::Main();
  if (!status.ok()) std::cerr << "convnet: " << status.message() << "\n";
  return tandem::ExitCodeFor(status);
}
