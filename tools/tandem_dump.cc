// tandem-dump MODEL_DIR|FILE: shows what the compiler has made of a model.
#include <algorithm>
#include <iostream>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/flag_table.h"
#include "base/json_string.h"
#include "base/printable.h"
#include "base/processors.h"
#include "base/status_macros.h"
#include "base/tool_program.h"
#include "runtime/device_classes/device_classes.h"
#include "runtime/executable/executable.h"
#include "runtime/format/index.h"
#include "tools/costs/costs.h"
#include "tools/costs/measurement.h"
#include "tools/dump/compare_dumps.h"
#include "tools/dump/contractions.h"
#include "tools/dump/dot_dump.h"
#include "tools/dump/explain_fusion.h"
#include "tools/dump/explain_precision.h"
#include "tools/dump/find_executable.h"
#include "tools/dump/html_dump.h"
#include "tools/dump/ir_graph.h"
#include "tools/dump/ir_text.h"
#include "tools/dump/json_dump.h"
#include "tools/dump/text_dump.h"
#include "tools/tool_functions.h"

namespace tandem {
namespace {

struct DumpFlags : FlagTable {
  Flag<std::string> mode{
      this, "mode", "",
      "train, eval or predict, or train_ps0 for what parameter server 0 does: which executable of a model directory "
      "(default: train)"};
  Flag<std::string> target{this, "target", "",
                           "cuda:sm_90 or cpu: which executable of a model directory (default: the newest)"};
  Flag<std::string> format{
      this, "format", "text",
      "text, json, dot (a graph for Graphviz) or html (one page for a browser, with graph, costs, memory and IR)"};
  Flag<std::string> phase{
      this, "phase", "",
      "print the IR at the end of this phase instead (input, precision, distribute, layout, fusion, "
      "schedule, memory, codegen)"};
  Flag<bool> costs{
      this, "costs", false,
      "run the program on random inputs and print expected against measured times of its commands, what bounds each, "
      "and the whole step's fraction of the machine's limit; with --format=json or html, put them there"};
  Flag<std::string> profile{this, "profile", "",
                            "with --costs: measured times from this file of --trace, without running"};
  Flag<std::string> machine{
      this, "machine", "",
      "with --costs or --contractions: the machine, a file of tandem-calibrate or a built-in one: zen4, "
      "sapphirerapids, generic-avx512, generic-avx2, or a GPU such as h200 (default: what the program was compiled "
      "for)"};
  Flag<int> threads{this, "threads", 0, "with --costs: threads of the run; 0: the machine's number of cores"};
  Flag<std::string> explain_fusion{
      this, "explain_fusion", "",
      "for the neighbours of this op (a part of its name, an operation such as td.relu, or all): whether one kernel "
      "computes both, and if not, why"};
  Flag<std::string> explain_precision{
      this, "explain_precision", "",
      "for ops of a program with mixed_bfloat16 (a part of a name, an operation such as td.relu, or all): whether it "
      "is computed in bfloat16 or float32, and why"};
  Flag<bool> contractions{
      this, "contractions", false,
      "how every convolution and product is computed, and why not otherwise, by the model that --machine names"};
  Flag<std::string> against{
      this, "against", "",
      "say what differs from this other model directory or file: settings, the ops of --phase (default: input), "
      "kernels, commands, buffers, memory and expected times; with --format=text, json or html"};
  Flag<bool> expand_replicas{this, "expand_replicas", false,
                             "list the commands of every replica, not of each program once"};
};

// Returns the text of a phase; InvalidArgument, with the existing phases, if the executable has none of that name.
absl::StatusOr<std::string> PhaseText(const Executable& executable, const std::string& phase) {
  std::vector<std::string> phases;
  for (size_t i = 0; i < executable.index().segments.size(); ++i) {
    const format::Segment& s = executable.index().segments[i];
    if (!IsPhase(s)) continue;
    phases.push_back(s.name);
    if (s.name == phase) return IrText(executable, static_cast<int>(i));
  }
  // The generated code of a GPU program is stored as text, and not as the IR of a phase.
  if (!executable.index().images.empty()) {
    phases.push_back("codegen");
    if (phase == "codegen") {
      return std::string(executable.segment(static_cast<int>(executable.index().images.back().segment)));
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no phase \"", phase, "\" in ", executable.name(), "; phases: ", absl::StrJoin(phases, ", ")));
}

int Threads(const DumpFlags& flags) {
  const int threads = *flags.threads;
  return threads > 0 ? threads : UsableProcessors();
}

// Returns the expected times of the commands; also measured times if there is a profile or `measure` is set.
absl::StatusOr<nlohmann::ordered_json> Costs(const DumpFlags& flags, const Executable& executable,
                                             const std::string& path, bool measure) {
  TD_ASSIGN_OR_RETURN(const MachineModel machine, ChooseMachineModel(*flags.machine, executable));
  std::optional<Measurement> measurement;
  if (const std::string profile = *flags.profile; !profile.empty()) {
    TD_ASSIGN_OR_RETURN(measurement, ReadProfile(profile, executable));
  } else if (const bool gpu = executable.index().programs[0].device_class == "gpu";
             measure && gpu && !ListDevices("gpu").ok()) {
    std::cerr << "tandem-dump: expected times only: " << ListDevices("gpu").status().message() << "\n";
  } else if (measure) {
    TD_ASSIGN_OR_RETURN(measurement, MeasureOnRandomInputs(path, Threads(flags), /*seconds=*/0.5));
  }
  return CostsJson(executable, machine, Threads(flags), measurement.has_value() ? &*measurement : nullptr);
}

absl::StatusOr<DumpedProgram> ReadProgram(const DumpFlags& flags, const Executable& executable, const std::string& path,
                                          const std::string& phase) {
  DumpedProgram program{.dump = DumpJson(executable, /*expand_replicas=*/false)};
  TD_ASSIGN_OR_RETURN(const std::string text, PhaseText(executable, phase));
  program.ops = ParseIrGraph(text);
  if (const absl::StatusOr<nlohmann::ordered_json> costs = Costs(flags, executable, path, /*measure=*/false);
      costs.ok()) {
    program.expected_seconds = 1e-6 * (*costs)["expected_us"].get<double>();
  }
  return program;
}

absl::Status Compare(const DumpFlags& flags, const Executable& executable, const std::string& path,
                     const std::string& format) {
  if (format == "dot") return absl::InvalidArgumentError("--against has the formats text, json and html, not dot");
  const std::string phase = flags.phase->empty() ? "input" : *flags.phase;
  TD_ASSIGN_OR_RETURN(const std::string other_path, FindExecutable(*flags.against, *flags.mode, *flags.target));
  TD_ASSIGN_OR_RETURN(const std::shared_ptr<const Executable> other, Executable::LoadToLook(other_path));
  TD_ASSIGN_OR_RETURN(const DumpedProgram a, ReadProgram(flags, executable, path, phase));
  TD_ASSIGN_OR_RETURN(const DumpedProgram b, ReadProgram(flags, *other, other_path, phase));
  const nlohmann::ordered_json comparison = CompareDumps(phase, a, b);
  if (format == "json") {
    std::cout << JsonString(comparison, 1) << "\n";
  } else {
    std::cout << Printable(format == "html" ? ComparisonHtml(comparison) : ComparisonText(comparison));
  }
  return absl::OkStatus();
}

absl::Status Dump(const DumpFlags& flags, const std::vector<std::string>& arguments) {
  if (arguments.size() != 1) {
    return absl::InvalidArgumentError(
        "usage: tandem-dump MODEL_DIR|FILE [--mode=train|eval|predict] [--target=cuda:sm_90|cpu] "
        "[--format=text|json|dot|html] [--phase=NAME] "
        "[--explain_fusion=OP|all] [--explain_precision=OP|all] [--contractions] [--costs [--profile=TRACE]] "
        "[--against=MODEL_DIR|FILE] [--expand_replicas]");
  }
  std::string format = *flags.format;
  if (format != "text" && format != "json" && format != "dot" && format != "html") {
    return absl::InvalidArgumentError(absl::StrCat("--format=", format, " is unknown; use text, json, dot or html"));
  }
  TD_ASSIGN_OR_RETURN(std::string path, FindExecutable(arguments[0], *flags.mode, *flags.target));
  TD_ASSIGN_OR_RETURN(std::shared_ptr<const Executable> executable, Executable::LoadToLook(path));
  if (!flags.against->empty()) return Compare(flags, *executable, path, format);
  if (const std::string phase = *flags.phase; !phase.empty()) {
    TD_ASSIGN_OR_RETURN(const std::string text, PhaseText(*executable, phase));
    std::cout << (phase == "codegen" && !executable->index().images.empty() ? text : Printable(text)) << "\n";
    return absl::OkStatus();
  }
  if (format == "dot") {
    std::cout << DumpDot(*executable);
    return absl::OkStatus();
  }
  const bool costs = *flags.costs || !flags.profile->empty();
  nlohmann::ordered_json cost_table;
  if (costs || format == "html") {
    TD_ASSIGN_OR_RETURN(cost_table, Costs(flags, *executable, path, /*measure=*/costs));
    if (format == "text") {
      std::cout << Printable(absl::StrCat(path, "\n", CostsText(cost_table)));
      return absl::OkStatus();
    }
  }
  if (std::string op = *flags.explain_fusion; !op.empty()) {
    TD_ASSIGN_OR_RETURN(std::string explanation, ExplainFusion(*executable, op));
    std::cout << Printable(explanation);
    return absl::OkStatus();
  }
  if (std::string op = *flags.explain_precision; !op.empty()) {
    TD_ASSIGN_OR_RETURN(std::string explanation, ExplainPrecision(*executable, op));
    std::cout << Printable(explanation);
    return absl::OkStatus();
  }
  if (*flags.contractions) {
    TD_ASSIGN_OR_RETURN(const MachineModel machine, ChooseMachineModel(*flags.machine, *executable));
    TD_ASSIGN_OR_RETURN(const std::string text, Contractions(*executable, machine));
    std::cout << Printable(text);
    return absl::OkStatus();
  }
  nlohmann::ordered_json dump = DumpJson(*executable, *flags.expand_replicas);
  if (format == "html") {
    std::cout << DumpHtml(*executable, dump, cost_table);
    return absl::OkStatus();
  }
  if (costs) dump["costs"] = std::move(cost_table);
  std::cout << (format == "json" ? JsonString(dump, 1) + "\n" : Printable(DumpText(dump)));
  return absl::OkStatus();
}

}  // namespace

int TandemDump(int argc, char** argv) {
  return RunToolProgram<DumpFlags>(
      argc, argv, "replicas, collectives, kernels, commands and memory of a compiled model (MODEL_DIR|FILE)", Dump);
}

}  // namespace tandem
