// tandem-scale MODEL_DIR|FILE: forecasts the speed of a compiled training step on 1 to 1024 devices, or with up to that
// many workers and parameter servers. tandem-scale --crossovers: shows which way of an all-reduce is the fastest at
// which sizes.
#include <cstdio>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/flag_table.h"
#include "base/status_macros.h"
#include "base/tool_program.h"
#include "runtime/collectives/exchange_sizes.h"
#include "runtime/device_classes/device_classes.h"
#include "runtime/executable/command_info.h"
#include "runtime/format/index.h"
#include "tools/costs/costs.h"
#include "tools/dump/find_executable.h"
#include "tools/scale/crossovers.h"
#include "tools/scale/fit_link.h"
#include "tools/scale/interconnect.h"
#include "tools/scale/measure.h"
#include "tools/scale/measured_times.h"
#include "tools/scale/parameter_servers.h"
#include "tools/scale/served_step.h"
#include "tools/scale/simulate.h"
#include "tools/scale/step_model.h"
#include "tools/tool_functions.h"

namespace tandem {
namespace {

struct ScaleFlags : FlagTable {
  Flag<std::string> local{this, "local", "memory",
                          "Link between the devices of a host: a name or GB/s,us[,us]; see docs/guide/scaling.md."};
  Flag<std::string> network{
      this, "network", "",
      "Link between hosts, shared by the devices of a host. Empty: 100gbe, or with --measured the link fitted to it."};
  Flag<int> devices_per_host{this, "devices_per_host", 1, "Devices that share a host and its network link."};
  Flag<std::string> algorithm{
      this, "algorithm", "auto",
      "All-reduce between hosts: direct, halving, ring or tree. auto: direct, as Tandem does it over TCP; ring for "
      "GPUs, and where --measured has times of it."};
  Flag<std::string> measured{
      this, "measured", "",
      "Times of all-reduces between processes, as benchmarks/all_reduce --csv=FILE writes them. The numbers of "
      "processes that it has take those times, the others the link that is fitted to them."};
  Flag<std::string> communication{
      this, "communication", "",
      "Which times of --measured: shared_memory, tcp or ring. Empty: those that are there, if of one only."};
  Flag<bool> crossovers{this, "crossovers", false,
                        "Print from which size on which way of an all-reduce is the shortest. Takes no model."};
  Flag<int> servers{
      this, "servers", 0,
      "Parameter servers that a program of one process would be given. 0: those that the program was compiled for, "
      "if any."};
  Flag<bool> overlap{this, "overlap", true, "Combine buckets while the backward pass goes on."};
  Flag<int> max_devices{this, "max_devices", 1024,
                        "The last number of devices, or of workers, of the table; before it are powers of two."};
  Flag<double> compute_ms{
      this, "compute_ms", 0,
      "Milliseconds of computation per step of one device, for another machine than this one: measured times are "
      "scaled to it. 0: as measured here. With parameter servers: of a worker, without the update."};
  Flag<int> cores{
      this, "cores", 0,
      "Cores of one machine that all devices share: more devices than cores compute so much longer. 0: each has "
      "its own."};
  Flag<int> runs{this, "runs", 10, "Steps to measure."};
  Flag<std::string> check{
      this, "check", "",
      "The same model compiled for one device with the same batch per device: its time on one core is the forecast's "
      "computation, and the forecast for the program's own number of devices is compared with its measured time."};
};

absl::Status Misfit(absl::string_view what, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(what, " do not go together: ", why));
}

// What forecasts depend on: the links between devices, the all-reduce algorithm, and measured times if there are any.
struct Setting {
  Topology topology;
  Algorithm algorithm = Algorithm::kDirect;
  std::optional<MeasuredTimes> measured;

  bool IsMeasured(int devices) const { return measured.has_value() && measured->Has(HostsOf(devices, topology)); }
  double AllReduce(double bytes, int devices) const {
    if (!IsMeasured(devices)) return AllReduceSeconds(algorithm, bytes, devices, topology);
    return SecondsInHost(algorithm, bytes, devices, topology) + measured->Seconds(bytes, HostsOf(devices, topology));
  }
  // Returns the seconds of the exchange before each step, in which processes agree whether to go on: each sends a few
  // bytes to all others.
  double Meeting(int devices) const {
    constexpr double kBytes = 16;
    const int hosts = HostsOf(devices, topology);
    if (hosts == 1) return 0;
    return IsMeasured(devices) ? measured->Seconds(kBytes, hosts)
                               : CostOf(Way::kOneHop, kBytes, hosts).On(topology.network);
  }
};

void PrintFit(const LinkFit& fit, const Setting& setting) {
  absl::PrintF(
      "measured: %d times of %s, %s processes; as %s they fit %.3f GB/s, %.1f us, %.2f us a message: error %.1f%%, at "
      "most %.1f%%\n",
      setting.measured->rows().size(), Name(setting.measured->communication()),
      absl::StrJoin(setting.measured->processes(), ", "), Name(setting.algorithm), 1e-9 * fit.link.bandwidth,
      1e6 * fit.link.latency, 1e6 * fit.link.message, 100 * fit.error, 100 * fit.greatest_error);
}

absl::StatusOr<Setting> SettingOf(const ScaleFlags& flags) {
  const std::string algorithm = *flags.algorithm, network = *flags.network, measured = *flags.measured,
                    communication = *flags.communication;
  Setting setting;
  TD_ASSIGN_OR_RETURN(setting.topology.local, ParseLink(*flags.local));
  TD_ASSIGN_OR_RETURN(setting.topology.network, ParseLink(network.empty() ? "100gbe" : network));
  setting.topology.devices_per_host = *flags.devices_per_host;
  if (setting.topology.devices_per_host < 1) return absl::InvalidArgumentError("--devices_per_host must be at least 1");
  if (algorithm != "auto") {
    TD_ASSIGN_OR_RETURN(setting.algorithm, ParseAlgorithm(algorithm));
  }
  if (measured.empty()) {
    if (communication.empty()) return setting;
    return Misfit("--communication and no --measured", "it chooses among measured times");
  }
  if (!network.empty()) return Misfit("--network and --measured", "the link is the one that is fitted to the times");
  TD_ASSIGN_OR_RETURN(setting.measured, MeasuredTimes::Read(measured, communication));
  const bool ring = setting.measured->communication() == Communication::kRing;
  if (algorithm == "auto" && ring) setting.algorithm = Algorithm::kRing;
  const LinkFit fit = FitLink(setting.algorithm, setting.measured->rows());
  setting.topology.network = fit.link;
  PrintFit(fit, setting);
  return setting;
}

void Scale(double factor, StepModel& model) {
  model.compute *= factor;
  model.tail *= factor;
  for (Bucket& b : model.buckets) b.ready *= factor;
}

// If there are more devices than cores (--cores), devices share cores, and the computation takes longer.
StepModel OnCores(const ScaleFlags& flags, StepModel model, int devices) {
  const int cores = *flags.cores;
  if (cores > 0 && devices > cores) Scale(static_cast<double>(devices) / cores, model);
  return model;
}

// Returns the numbers of devices in the tables: powers of two from `first` on, and --max_devices.
std::vector<int> Counts(const ScaleFlags& flags, int first) {
  const int most = *flags.max_devices;
  std::vector<int> counts;
  for (int n = first; n < most; n *= 2) counts.push_back(n);
  counts.push_back(most);
  return counts;
}

void PrintBuckets(const StepModel& model) {
  absl::PrintF("computation %.3f ms, update %.3f ms; buckets in the order of their numbers:\n", 1e3 * model.compute,
               1e3 * model.tail);
  for (const Bucket& b : model.buckets) {
    absl::PrintF("  %d: %s: %.1f KiB, ready at %.3f ms%s\n", b.seq, b.name, b.bytes / 1024, 1e3 * b.ready,
                 b.blocking ? ", blocking" : "");
  }
}

void PrintTable(const ScaleFlags& flags, const StepModel& model, const Setting& setting, bool processes) {
  double one = 0;
  std::vector<std::string> not_measured;
  absl::PrintF("%8s %10s %14s %12s %11s  %s\n", "devices", "step ms", "all-reduce ms", "exposed ms", "efficiency",
               "stalled most by");
  for (int n : Counts(flags, 1)) {
    Forecast f = Simulate(OnCores(flags, model, n), [&](double bytes) { return setting.AllReduce(bytes, n); });
    if (processes) {
      f.step += setting.Meeting(n);
      f.communication += setting.Meeting(n);
      f.exposed += setting.Meeting(n);
    }
    if (n == 1) one = f.step;
    if (HostsOf(n, setting.topology) > 1 && !setting.IsMeasured(n)) not_measured.push_back(absl::StrCat(n));
    absl::PrintF("%8d %10.3f %14.3f %12.3f %10.1f%%  %s\n", n, 1e3 * f.step, 1e3 * f.communication, 1e3 * f.exposed,
                 100 * one / f.step,
                 f.worst < 0
                     ? "-"
                     : absl::StrFormat("%s: %.3f ms", model.buckets[f.worst].name, 1e3 * f.buckets[f.worst].stall));
  }
  if (setting.measured.has_value() && !not_measured.empty()) {
    absl::PrintF("by the fitted link, because there are no measured times: %s devices\n",
                 absl::StrJoin(not_measured, ", "));
  }
}

std::string Size(double bytes) {
  constexpr absl::string_view kUnits[] = {"B", "KiB", "MiB", "GiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 3; ++unit) bytes /= 1024;
  return absl::StrFormat(unit == 0 ? "%.0f %s" : "%.1f %s", bytes, kUnits[unit]);
}

void PrintCrossovers(const ScaleFlags& flags, const Setting& setting) {
  const Link& link = setting.topology.network;
  absl::PrintF("%.3f GB/s, %.1f us, %.2f us a message; the shortest of all ways, by the size from which on it is:\n",
               1e-9 * link.bandwidth, 1e6 * link.latency, 1e6 * link.message);
  absl::PrintF("%9s  %-21s  %s\n", "processes", "Tandem: one hop up to", "the shortest");
  for (int n : Counts(flags, 2)) {
    std::vector<std::string> ways;
    for (const Stretch& s : Crossovers(link, n)) {
      ways.push_back(s.from == 0 ? std::string(Name(s.way)) : absl::StrCat("from ", Size(s.from), " ", Name(s.way)));
    }
    absl::PrintF("%9d  %-21s  %s\n", n, Size(static_cast<double>(kOneHopBytes) / (n - 1)), absl::StrJoin(ways, ", "));
  }
}

void PrintServed(const ScaleFlags& flags, const ServedStep& step, const Link& link) {
  absl::PrintF("%d parameter servers; a worker computes %.3f ms, a step alone takes %.3f ms:\n", step.servers.size(),
               1e3 * step.compute, 1e3 * AloneSeconds(step, link));
  for (size_t i = 0; i < step.servers.size(); ++i) {
    const ServerLoad& s = step.servers[i];
    absl::PrintF("  ps %d: gets %s, returns %s, %.3f ms an update\n", i, Size(s.sent), Size(s.returned),
                 1e3 * s.update);
  }
  absl::PrintF("%8s %15s %14s %11s %10s  %s\n", "workers", "global steps/s", "of each worker", "efficiency",
               "staleness", "bound by");
  const double one = ForecastServed(step, 1, link, *flags.cores).rate;
  for (int n : Counts(flags, 1)) {
    const ServedForecast f = ForecastServed(step, n, link, *flags.cores);
    absl::PrintF("%8d %15.3f %14.3f %10.1f%% %10.0f  %s%s\n", n, f.rate, f.rate / n, 100 * f.rate / (n * one),
                 f.staleness, Name(f.bound), f.server < 0 ? "" : absl::StrCat(" of ps ", f.server));
  }
}

// Prints how a forecast compares with the measurement of a program with several devices in one process. The devices are
// cores of this machine, and communication does not overlap computation.
absl::Status Check(const ScaleFlags& flags, const Executable& executable, const Measured& here, StepModel model) {
  TD_ASSIGN_OR_RETURN(const Measured one, Measure(*flags.check, *flags.runs));
  TD_ASSIGN_OR_RETURN(const Link memory, ParseLink("memory"));
  Scale(one.wall / (model.compute + model.tail), model);
  const int n = executable.num_replicas();
  const Topology process = {memory, memory, n};
  const Forecast f =
      Simulate(model, [&](double bytes) { return AllReduceSeconds(Algorithm::kTree, bytes, n, process); });
  absl::PrintF("check: one device %.3f ms; %d devices: forecast %.3f ms, measured %.3f ms, measured / forecast %.3f\n",
               1e3 * one.wall, n, 1e3 * f.step, 1e3 * here.wall, here.wall / f.step);
  return absl::OkStatus();
}

// Returns the measured times of the commands. For a GPU program on a machine without a GPU, returns the times that the
// machine model expects.
absl::StatusOr<Measured> TimesOf(const ScaleFlags& flags, const Executable& executable, const std::string& path) {
  const bool gpu = executable.index().programs[0].device_class == "gpu";
  if (!gpu || ListDevices("gpu").ok()) return Measure(path, *flags.runs);
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

absl::StatusOr<ServedStep> Served(const ScaleFlags& flags, const Executable& executable, const std::string& argument,
                                  const std::string& path) {
  if (executable.index().programs[0].device_class == "gpu") {
    return absl::InvalidArgumentError(absl::StrCat(
        path, " is for GPUs, which parameter servers do not serve; compile it for CPUs (--devices=cpu:0)"));
  }
  const double given = 1e-3 * *flags.compute_ms;
  ServedStep step;
  double factor = 1;
  TD_ASSIGN_OR_RETURN(const Measured measured, Measure(path, *flags.runs));
  if (executable.index().parameter_servers == 0) {
    TD_ASSIGN_OR_RETURN(const StepModel model, MakeStepModel(executable, measured.commands, /*overlap=*/false));
    step = PlacedStep(executable, *flags.servers, model.tail);
    // In the forecast each worker has one device, however many the program has.
    step.threads = 1;
    step.compute = model.compute;
    if (given > 0) factor = given / step.compute;
  } else {
    TD_ASSIGN_OR_RETURN(const std::vector<std::string> files, FindServers(argument, executable));
    std::vector<std::shared_ptr<const Executable>> servers;
    for (const std::string& file : files) {
      TD_ASSIGN_OR_RETURN(servers.emplace_back(), Executable::Load(file));
    }
    TD_ASSIGN_OR_RETURN(step, ServedStepOf(executable, servers));
    step.compute = measured.wall;
    if (given > 0) factor = given / step.compute;
    for (size_t i = 0; i < files.size(); ++i) {
      TD_ASSIGN_OR_RETURN(const Measured update, Measure(files[i], *flags.runs));
      step.servers[i].update = update.wall;
    }
  }
  step.compute *= factor;
  for (ServerLoad& s : step.servers) s.update *= factor;
  return step;
}

absl::Status ForecastServers(const ScaleFlags& flags, const Executable& executable, const std::string& argument,
                             const std::string& path, const Setting& setting) {
  const int servers = *flags.servers, compiled = executable.index().parameter_servers;
  if (compiled > 0 && servers > 0 && servers != compiled) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--servers=", servers, ": ", path, " was compiled for ", compiled,
        " parameter servers; leave out --servers, or give a program of one process and at least two devices"));
  }
  if (setting.topology.devices_per_host != 1) {
    return Misfit("--devices_per_host and parameter servers", "each worker and each server has a link of its own");
  }
  if (!flags.check->empty()) return Misfit("--check and parameter servers", "it compares devices");
  if (*flags.algorithm != "auto" && !setting.measured.has_value()) {
    return Misfit("--algorithm and parameter servers", "there is no all-reduce");
  }
  TD_ASSIGN_OR_RETURN(ServedStep step, Served(flags, executable, argument, path));
  AddCopies(setting.topology.local.bandwidth, &step);
  PrintServed(flags, step, setting.topology.network);
  return absl::OkStatus();
}

absl::Status CheckNumbers(const ScaleFlags& flags) {
  constexpr int kMost = 1 << 20;
  if (*flags.runs < 1) return absl::InvalidArgumentError("--runs must be at least 1");
  if (*flags.cores < 0) return absl::InvalidArgumentError("--cores must not be negative");
  if (*flags.servers < 0 || *flags.servers > kMost) {
    return absl::InvalidArgumentError(absl::StrCat("--servers must be from 0 to ", kMost));
  }
  if (*flags.max_devices < 1 || *flags.max_devices > kMost) {
    return absl::InvalidArgumentError(absl::StrCat("--max_devices must be from 1 to ", kMost));
  }
  return absl::OkStatus();
}

absl::Status CheckCrossovers(const ScaleFlags& flags, const std::vector<std::string>& arguments) {
  if (!arguments.empty()) return Misfit("--crossovers and a model", "it is about links alone; leave one of them out");
  if (*flags.algorithm != "auto" && flags.measured->empty()) {
    return Misfit("--crossovers and --algorithm", "all are compared; with --measured it is the one that times are of");
  }
  if (*flags.servers != 0) return Misfit("--crossovers and --servers", "all-reduces are compared");
  if (*flags.max_devices < 2) {
    return absl::InvalidArgumentError("--max_devices must be at least 2 for --crossovers");
  }
  return absl::OkStatus();
}

absl::Status Forecasts(const ScaleFlags& flags, const std::vector<std::string>& arguments) {
  const bool crossovers = *flags.crossovers;
  if (crossovers) TD_RETURN_IF_ERROR(CheckCrossovers(flags, arguments));
  if (!crossovers && arguments.size() != 1) {
    return absl::InvalidArgumentError("usage: tandem-scale MODEL_DIR|FILE [--local=LINK] [--network=LINK] ...; --help");
  }
  TD_RETURN_IF_ERROR(CheckNumbers(flags));
  TD_ASSIGN_OR_RETURN(Setting setting, SettingOf(flags));
  if (crossovers) {
    PrintCrossovers(flags, setting);
    return absl::OkStatus();
  }
  TD_ASSIGN_OR_RETURN(const std::string path, FindExecutable(arguments[0], "train"));
  TD_ASSIGN_OR_RETURN(const std::shared_ptr<const Executable> executable, Executable::Load(path));
  const bool gpu = executable->index().programs[0].device_class == "gpu";
  if (gpu && setting.measured.has_value()) {
    return Misfit("--measured and a program for GPUs", "its all-reduces are NCCL's; give a link and ring or tree");
  }
  if (gpu && *flags.algorithm == "auto") setting.algorithm = Algorithm::kRing;
  if (*flags.servers > 0 || executable->index().parameter_servers > 0) {
    return ForecastServers(flags, *executable, arguments[0], path, setting);
  }
  TD_ASSIGN_OR_RETURN(const Measured measured, TimesOf(flags, *executable, path));
  TD_ASSIGN_OR_RETURN(StepModel model, MakeStepModel(*executable, measured.commands, *flags.overlap));
  if (*flags.compute_ms > 0) {
    Scale(1e-3 * *flags.compute_ms / (model.compute + model.tail), model);
  }
  PrintBuckets(model);
  PrintTable(flags, model, setting, /*processes=*/!gpu);
  if (flags.check->empty()) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(model, MakeStepModel(*executable, measured.commands, /*overlap=*/false));
  return Check(flags, *executable, measured, std::move(model));
}

}  // namespace

int TandemScale(int argc, char** argv) {
  return RunToolProgram<ScaleFlags>(
      argc, argv, "forecasts a compiled training step on 1 to 1024 devices (MODEL_DIR|FILE)", Forecasts);
}

}  // namespace tandem
