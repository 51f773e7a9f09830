#include "tools/costs/costs.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/env.h"
#include "base/status_macros.h"
#include "base/text_file.h"
#include "passes/analysis/command_cost.h"
#include "runtime/executable/command_info.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Rounds to four digits, which is more than the accuracy of any of these numbers.
double Rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  double rounded = 0;
  return absl::SimpleAtod(absl::StrFormat("%.4g", value), &rounded) ? rounded : value;
}

struct Totals {
  // Sums over all commands, in seconds of one run of the program if all threads work all the time: as the machine model
  // expects, without overheads (limit), as measured, and with each call at its median time (undisturbed).
  double expected = 0, limit = 0, measured = 0, undisturbed = 0;
};

class CostTable {
 public:
  CostTable(const Executable& executable, const MachineModel& machine, int threads, const Measurement* measurement)
      : executable_(executable),
        index_(executable.index()),
        machine_(machine),
        gpu_(index_.programs[0].device_class == "gpu"),
        lanes_(gpu_ ? 1 : index_.lanes),
        replicas_(gpu_ ? 1 : executable.num_replicas()),
        threads_(gpu_                                                 ? 1
                 : measurement != nullptr && measurement->threads > 0 ? measurement->threads
                                                                      : threads),
        measurement_(measurement) {}

  OrderedJson Run() {
    std::vector<OrderedJson> rows;
    for (const CommandInfo& command : ListCommands(executable_)) {
      OrderedJson row = CommandRow(command);
      if (!row.is_null()) rows.push_back(std::move(row));
    }
    const bool measured = measurement_ != nullptr && measurement_->runs > 0;
    OrderedJson out = {{"machine", machine_.name},
                       {"threads", threads_},
                       {"rows", executable_.rows_per_replica() * executable_.num_replicas()},
                       {"expected_us", Rounded(1e6 * totals_.expected)},
                       {"limit_us", Rounded(1e6 * totals_.limit)}};
    if (absl::StartsWith(machine_.name, "generic-")) {
      out["note"] =
          absl::StrCat("There is no model of this CPU: expected times, limits and bounds are those of ", machine_.name,
                       ", a slow CPU with such vector registers. tandem-calibrate --output=machine.txt measures this "
                       "machine in some "
                       "seconds; --machine=machine.txt shows costs with that, TANDEM_FLAGS=--machine-model=machine.txt "
                       "compiles with "
                       "it.");
    }
    // Shares are fractions of the mean time of a run, so that all shares and the idle share add up to one.
    const double whole = measured ? measurement_->mean_run_seconds : totals_.expected;
    if (measured) {
      const double median = measurement_->run_seconds;
      out["measured_us"] = Rounded(1e6 * median);
      out["runs"] = measurement_->runs;
      out["undisturbed_us"] = Rounded(1e6 * totals_.undisturbed);
      out["of_limit"] = Rounded(median > 0 ? totals_.limit / median : 0);
      out["idle_share"] = Rounded(whole > 0 ? std::max(0.0, 1 - totals_.measured / whole) : 0);
    }
    for (OrderedJson& row : rows) {
      const double part = row["share"];
      row["share"] = Rounded(whole > 0 ? part / whole : 0);
    }
    out["commands"] = std::move(rows);
    return out;
  }

 private:
  // Returns how often a command is called in one run of the program.
  int64_t Calls(const CommandInfo& command) const {
    if (!command.map) return command.kind == "LaneSum" ? 0 : 1;
    const int64_t microbatches =
        (index_.rows_per_lane + index_.microbatch_rows - 1) / std::max<int64_t>(1, index_.microbatch_rows);
    return lanes_ * (command.kind == "LaneSum" ? microbatches - 1 : microbatches);
  }

  OrderedJson CommandRow(const CommandInfo& command) {
    const int64_t calls = Calls(command);
    if (calls == 0 || (command.kind == "LaneSum" && command.work.bytes == 0)) return OrderedJson();
    if (command.kind == "AllReduce" && executable_.num_replicas() == 1) return OrderedJson();
    const int64_t microbatch = command.map ? std::min(index_.microbatch_rows, index_.rows_per_lane) : 0;
    const double devices = command.map ? 1 : replicas_;
    const Cost cost = ExpectedCost(machine_, executable_, command, microbatch, threads_);
    const double limit = LimitSeconds(cost) * devices;
    const double expected = SecondsForDevices(cost, devices);
    OrderedJson row = {{"id", command.id},
                       {"section", command.section},
                       {"kind", command.kind},
                       {"name", command.name.empty() ? "sum over the microbatches of a lane" : command.name},
                       {"detail", command.detail},
                       {"source", command.source},
                       {"calls", calls},
                       {"flops", command.work.Flops(microbatch) * devices},
                       {"bytes", command.work.Bytes(microbatch) * devices},
                       {"expected_us", Rounded(1e6 * expected)},
                       {"limit_us", Rounded(1e6 * limit)},
                       {"bound", BoundName(cost.bound)}};
    // `part` is the time of a run, in seconds, that the command takes from all threads. Commands of a map section run
    // on all threads. A global command counts fully, because all threads wait at the barrier after it. The last
    // microbatch of a lane may have fewer rows.
    double part = expected;
    if (command.map) {
      const double full = static_cast<double>(index_.rows_per_lane) / std::max<double>(1, microbatch);
      const double times = command.kind == "LaneSum" ? calls : lanes_ * full;
      totals_.limit += limit * times / threads_;
      part = expected * times / threads_;
    } else {
      totals_.limit += limit / threads_;
    }
    totals_.expected += part;
    if (measurement_ != nullptr && measurement_->runs > 0) part = AddMeasured(command, microbatch, limit, row);
    row["share"] = part;  // in seconds; becomes a fraction of the whole time when that is known
    return row;
  }

  // Adds the measured values to `row`, and returns the seconds that the command takes from all threads in one run.
  double AddMeasured(const CommandInfo& command, int64_t microbatch, double limit, OrderedJson& row) {
    const CommandMeasurement& m = measurement_->commands[command.id];
    if (m.calls == 0 || m.seconds <= 0) return 0;
    const double devices = command.map ? 1 : replicas_, median = std::max(m.median_seconds, 1e-9);
    row["measured_us"] = Rounded(1e6 * median);
    row["mean_us"] = Rounded(1e6 * m.seconds / static_cast<double>(m.calls));
    row["gflops"] = Rounded(1e-9 * devices * command.work.Flops(m.median_rows) / median);
    row["gbps"] = Rounded(1e-9 * devices * command.work.Bytes(m.median_rows) / median);
    // The median call may have had a microbatch with fewer rows, which has less work than `limit` is for.
    const double fill =
        command.map && microbatch > 0 && m.median_rows > 0 ? static_cast<double>(m.median_rows) / microbatch : 1;
    row["of_limit"] = Rounded(limit * fill / median / (command.map ? 1 : threads_));
    const double per_run = static_cast<double>(m.calls) / static_cast<double>(measurement_->runs);
    totals_.undisturbed += median * per_run / (command.map ? threads_ : 1);
    const double part = m.seconds / static_cast<double>(measurement_->runs) / (command.map ? threads_ : 1);
    totals_.measured += part;
    return part;
  }

  const Executable& executable_;
  const format::Index& index_;
  const MachineModel& machine_;
  // True for a GPU program. GPUs work in parallel, each like a machine model with a single core, so that the table
  // describes one GPU.
  const bool gpu_;
  const int64_t lanes_, replicas_;
  const int threads_;
  const Measurement* measurement_;
  Totals totals_;
};

// Formats a time in microseconds: "12.3 us" or "4.56 ms".
std::string Time(double us) {
  if (us >= 1e6) return absl::StrFormat("%.3g s", 1e-6 * us);
  return us >= 1000 ? absl::StrFormat("%.3g ms", 1e-3 * us) : absl::StrFormat("%.3g us", us);
}

std::string Cell(const OrderedJson& row, const char* key, const char* unit = "") {
  return row.contains(key) ? absl::StrFormat("%.3g%s", row[key].get<double>(), unit) : "-";
}

}  // namespace

absl::StatusOr<MachineModel> ChooseMachineModel(const std::string& name_or_file, const Executable& executable) {
  if (!name_or_file.empty()) {
    if (absl::StatusOr<MachineModel> model = BuiltInMachineModel(name_or_file); model.ok()) return model;
    TD_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(Env::Default(), name_or_file));
    return ParseMachineModel(name_or_file, text);
  }
  return MachineModelOf(executable);
}

OrderedJson CostsJson(const Executable& executable, const MachineModel& machine, int threads,
                      const Measurement* measurement) {
  return CostTable(executable, machine, std::max(1, threads), measurement).Run();
}

std::string CostsText(const OrderedJson& costs) {
  std::string out = absl::StrFormat("Machine %s, %d threads, %d rows a step\n", costs["machine"].get<std::string>(),
                                    costs["threads"].get<int>(), costs["rows"].get<int64_t>());
  if (costs.contains("note")) absl::StrAppend(&out, "  ", costs["note"].get<std::string>(), "\n");
  absl::StrAppend(&out, "  expected ", Time(costs["expected_us"]), ", the machine's limit ", Time(costs["limit_us"]));
  const bool measured = costs.contains("measured_us");
  if (measured) {
    absl::StrAppendFormat(&out,
                          "; measured %s (median of %d runs): %.3g of the limit; threads idle %.1f %%; "
                          "all calls at their medians: %s",
                          Time(costs["measured_us"]), costs["runs"].get<int64_t>(), costs["of_limit"].get<double>(),
                          100 * costs["idle_share"].get<double>(), Time(costs["undisturbed_us"]));
  }
  absl::StrAppendFormat(&out, "\n\n%7s %6s %11s %11s %9s %8s %8s  %-8s %s\n", "share", "calls", "expected", "measured",
                        "GFLOP/s", "GB/s", "of limit", "bound", "command");
  std::vector<size_t> order(costs["commands"].size());
  std::iota(order.begin(), order.end(), 0);
  const OrderedJson& commands = costs["commands"];
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return commands[a]["share"].get<double>() > commands[b]["share"].get<double>();
  });
  for (size_t i : order) {
    const OrderedJson& s = commands[i];
    absl::StrAppendFormat(&out, "%6.1f%% %6d %11s %11s %9s %8s %8s  %-8s %s  [%s%s]\n", 100 * s["share"].get<double>(),
                          s["calls"].get<int64_t>(), Time(s["expected_us"]),
                          s.contains("measured_us") ? Time(s["measured_us"]) : "-", Cell(s, "gflops"), Cell(s, "gbps"),
                          Cell(s, "of_limit"), s["bound"].get<std::string>(), s["name"].get<std::string>(),
                          s["kind"].get<std::string>(),
                          s["detail"].get<std::string>().empty() ? "" : ", " + s["detail"].get<std::string>());
  }
  return out;
}

}  // namespace tandem
