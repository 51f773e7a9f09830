// tandem-scale MODEL_DIR|FILE: forecasts the speed of a compiled training step on 1 to 1024 devices.
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/program.h"
#include "base/status_macros.h"
#include "runtime/command_info.h"
#include "runtime/list_devices.h"
#include "tools/costs/costs.h"
#include "tools/dump/find_executable.h"
#include "tools/scale/interconnect.h"
#include "tools/scale/measure.h"
#include "tools/scale/simulate.h"
#include "tools/scale/step_model.h"

ABSL_FLAG(std::string, local, "memory",
          "Link between the devices of a host: a name or GB/s,us; see docs/guide/scaling.md.");
ABSL_FLAG(std::string, network, "100gbe", "Link between hosts, shared by the devices of a host.");
ABSL_FLAG(int, devices_per_host, 1, "Devices that share a host and its network link.");
ABSL_FLAG(std::string, algorithm, "ring", "All-reduce between hosts: ring or tree.");
ABSL_FLAG(bool, overlap, true, "Combine buckets while the backward pass goes on.");
ABSL_FLAG(int, max_devices, 1024, "The largest number of devices of the table.");
ABSL_FLAG(double, compute_ms, 0,
          "Milliseconds of computation per step of one device, for another machine than this one: measured times are "
          "scaled to it. 0: as measured here.");
ABSL_FLAG(int, runs, 10, "Steps to measure.");
ABSL_FLAG(
    std::string, check, "",
    "The same model compiled for one device with the same batch per device: its time on one core is the forecast's "
    "computation, and the forecast for the program's own number of devices is compared with its measured time.");

namespace tandem {
namespace {

absl::StatusOr<Topology> TopologyFromFlags() {
  Topology topology;
  TD_ASSIGN_OR_RETURN(topology.local, ParseLink(absl::GetFlag(FLAGS_local)));
  TD_ASSIGN_OR_RETURN(topology.network, ParseLink(absl::GetFlag(FLAGS_network)));
  topology.devices_per_host = absl::GetFlag(FLAGS_devices_per_host);
  if (topology.devices_per_host < 1) return absl::InvalidArgumentError("--devices_per_host must be at least 1");
  return topology;
}

void Scale(double factor, StepModel& model) {
  model.compute *= factor;
  model.tail *= factor;
  for (Bucket& b : model.buckets) b.ready *= factor;
}

void PrintBuckets(const StepModel& model) {
  absl::PrintF("computation %.3f ms, update %.3f ms; buckets in the order of their numbers:\n", 1e3 * model.compute,
               1e3 * model.tail);
  for (const Bucket& b : model.buckets) {
    absl::PrintF("  %d: %s: %.1f KiB, ready at %.3f ms%s\n", b.seq, b.name, b.bytes / 1024, 1e3 * b.ready,
                 b.blocking ? ", blocking" : "");
  }
}

void PrintTable(const StepModel& model, Algorithm algorithm, const Topology& topology) {
  const double one = Simulate(model, 1, algorithm, topology).step;
  absl::PrintF("%8s %10s %14s %12s %11s  %s\n", "devices", "step ms", "all-reduce ms", "exposed ms", "efficiency",
               "stalled most by");
  for (int n = 1; n <= absl::GetFlag(FLAGS_max_devices); n *= 2) {
    const Forecast f = Simulate(model, n, algorithm, topology);
    absl::PrintF("%8d %10.3f %14.3f %12.3f %10.1f%%  %s\n", n, 1e3 * f.step, 1e3 * f.communication, 1e3 * f.exposed,
                 100 * one / f.step,
                 f.worst < 0
                     ? "-"
                     : absl::StrFormat("%s: %.3f ms", model.buckets[f.worst].name, 1e3 * f.buckets[f.worst].stall));
  }
}

// In one process nothing overlaps, and the devices of the program are this machine's cores.
absl::Status Check(const Executable& executable, const Measured& here, StepModel model) {
  TD_ASSIGN_OR_RETURN(const Measured one, Measure(absl::GetFlag(FLAGS_check), absl::GetFlag(FLAGS_runs)));
  TD_ASSIGN_OR_RETURN(const Link memory, ParseLink("memory"));
  Scale(one.wall / (model.compute + model.tail), model);
  const int n = executable.num_replicas();
  const Forecast f = Simulate(model, n, Algorithm::kTree, {memory, memory, n});
  absl::PrintF("check: one device %.3f ms; %d devices: forecast %.3f ms, measured %.3f ms, measured / forecast %.3f\n",
               1e3 * one.wall, n, 1e3 * f.step, 1e3 * here.wall, here.wall / f.step);
  return absl::OkStatus();
}

// Measured times; of a program for GPUs on a machine without one, expected times of the machine model.
absl::StatusOr<Measured> TimesOf(const Executable& executable, const std::string& path) {
  const bool gpu = executable.index().programs[0]->device_class == "gpu";
  if (!gpu || ListDevices("gpu").ok()) return Measure(path, absl::GetFlag(FLAGS_runs));
  TD_ASSIGN_OR_RETURN(const MachineModel machine, ChooseMachineModel("", executable));
  std::cerr << "tandem-scale: nothing is measured, times are those expected of " << machine.name << ": "
            << ListDevices("gpu").status().message() << "\n";
  Measured expected;
  expected.commands.seconds.assign(ListCommands(executable).size(), 0);
  const nlohmann::ordered_json costs = CostsJson(executable, machine, /*threads=*/1, /*measurement=*/nullptr);
  for (const auto& row : costs["commands"]) {
    expected.commands.seconds[row["id"].get<size_t>()] = 1e-6 * row["expected_us"].get<double>();
    expected.wall += 1e-6 * row["expected_us"].get<double>();
  }
  return expected;
}

absl::Status Forecasts(const std::vector<std::string>& arguments) {
  if (arguments.size() != 1) {
    return absl::InvalidArgumentError("usage: tandem-scale MODEL_DIR|FILE [--local=LINK] [--network=LINK] ...; --help");
  }
  if (absl::GetFlag(FLAGS_runs) < 1) return absl::InvalidArgumentError("--runs must be at least 1");
  TD_ASSIGN_OR_RETURN(const Topology topology, TopologyFromFlags());
  TD_ASSIGN_OR_RETURN(const Algorithm algorithm, ParseAlgorithm(absl::GetFlag(FLAGS_algorithm)));
  TD_ASSIGN_OR_RETURN(const std::string path, FindExecutable(arguments[0], "train"));
  TD_ASSIGN_OR_RETURN(const std::shared_ptr<const Executable> executable, Executable::Load(path));
  TD_ASSIGN_OR_RETURN(const Measured measured, TimesOf(*executable, path));
  TD_ASSIGN_OR_RETURN(StepModel model, MakeStepModel(*executable, measured.commands, absl::GetFlag(FLAGS_overlap)));
  if (absl::GetFlag(FLAGS_compute_ms) > 0) {
    Scale(1e-3 * absl::GetFlag(FLAGS_compute_ms) / (model.compute + model.tail), model);
  }
  PrintBuckets(model);
  PrintTable(model, algorithm, topology);
  if (absl::GetFlag(FLAGS_check).empty()) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(model, MakeStepModel(*executable, measured.commands, /*overlap=*/false));
  return Check(*executable, measured, std::move(model));
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "forecasts a compiled training step on 1 to 1024 devices (MODEL_DIR|FILE)",
                            tandem::Forecasts);
}
