// tandem-dump MODEL_DIR|FILE: shows what the compiler made of a model.
#include <iostream>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/exit_code.h"
#include "base/flags.h"
#include "base/status_macros.h"
#include "runtime/executable.h"
#include "tools/dump/find_executable.h"
#include "tools/dump/json_dump.h"
#include "tools/dump/text_dump.h"

ABSL_FLAG(std::string, mode, "", "train, eval or predict: which executable of a model directory (default: train)");
ABSL_FLAG(std::string, format, "text", "text or json");
ABSL_FLAG(std::string, phase, "",
          "print the IR at the end of this phase instead (input, precision, distribute, layout, fusion, "
          "schedule, memory, codegen)");
ABSL_FLAG(bool, expand_replicas, false, "list the steps of every replica, not of each program once");

namespace tandem {
namespace {

absl::Status PrintPhase(const Executable& executable, const std::string& phase) {
  std::vector<std::string> phases;
  for (size_t i = 0; i < executable.index().segments.size(); ++i) {
    const fb::SegmentT& s = *executable.index().segments[i];
    if (s.kind != fb::SegmentKind::IrText) continue;
    phases.push_back(s.name);
    if (s.name != phase) continue;
    std::cout << executable.segment(static_cast<int>(i)) << "\n";
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no phase \"", phase, "\" in ", executable.name(), "; phases: ", absl::StrJoin(phases, ", ")));
}

absl::Status Dump(const std::vector<std::string>& arguments) {
  if (arguments.size() != 1) {
    return absl::InvalidArgumentError(
        "usage: tandem-dump MODEL_DIR|FILE [--mode=train|eval|predict] [--format=text|json] [--phase=NAME] "
        "[--expand_replicas]");
  }
  std::string format = absl::GetFlag(FLAGS_format);
  if (format != "text" && format != "json") {
    return absl::InvalidArgumentError(absl::StrCat("--format=", format, " is unknown; use text or json"));
  }
  TD_ASSIGN_OR_RETURN(std::string path, FindExecutable(arguments[0], absl::GetFlag(FLAGS_mode)));
  TD_ASSIGN_OR_RETURN(std::shared_ptr<const Executable> executable, Executable::Load(path));
  if (!absl::GetFlag(FLAGS_phase).empty()) return PrintPhase(*executable, absl::GetFlag(FLAGS_phase));
  nlohmann::ordered_json dump = DumpJson(*executable, absl::GetFlag(FLAGS_expand_replicas));
  std::cout << (format == "json" ? dump.dump(1) + "\n" : DumpText(dump));
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  std::vector<std::string> arguments;
  if (std::optional<int> code = tandem::ParseFlags(
          argc, argv, "replicas, collectives, kernels, steps and memory of a compiled model (MODEL_DIR|FILE)",
          &arguments)) {
    return *code;
  }
  absl::Status status = tandem::Dump(arguments);
  if (!status.ok()) std::cerr << "tandem-dump: " << status.message() << "\n";
  return tandem::ExitCodeFor(status);
}
