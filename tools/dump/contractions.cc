#include "tools/dump/contractions.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "passes/base/report_segments.h"
#include "passes/contraction/candidate.h"
#include "runtime/device_classes/device_classes.h"
#include "runtime/library_calls/library_call.h"
#include "runtime/session/kernel_library.h"

namespace tandem {
namespace {

// Describes an algorithm with its block size and cost: "winograd_f4 in blocks of 36 tiles, 11.2 us a row".
std::string WayText(absl::string_view algorithm, absl::string_view block, absl::string_view nanoseconds,
                    absl::string_view rows) {
  std::string text(algorithm);
  if (block != "0") absl::StrAppend(&text, " in blocks of ", block, " tiles");
  double ns = 0, row_count = 1;
  if (absl::SimpleAtod(nanoseconds, &ns) && absl::SimpleAtod(rows, &row_count) && ns > 0 && row_count > 0) {
    absl::StrAppendFormat(&text, ", %.3g us a row", ns / 1000 / row_count);
  }
  return text;
}

// Describes how the compiler decided about each contraction. `lines` is the report that the compiler stores in the
// executable (passes/base/report_segments.h).
std::string ReportText(absl::string_view lines) {
  std::string text, taken, others;
  std::vector<absl::string_view> last;
  const auto finish = [&] {
    if (!last.empty()) {
      absl::StrAppend(&text, last[0], ": ", last[1], ", microbatches of ", last[2], " rows\n", taken, others);
    }
    taken.clear();
    others.clear();
  };
  for (absl::string_view line : absl::StrSplit(lines, '\n', absl::SkipEmpty())) {
    const std::vector<absl::string_view> fields = absl::StrSplit(line, '\t');
    if (fields.size() != 7) continue;
    if (!last.empty() && (fields[0] != last[0] || fields[1] != last[1])) finish();
    last = fields;
    const std::string way = WayText(fields[3], fields[4], fields[5], fields[2]);
    if (fields[6].empty()) {
      taken = absl::StrCat("  ", way, "\n");
    } else {
      absl::StrAppend(&others, "    not ", way, ": ", fields[6], "\n");
    }
  }
  finish();
  return text;
}

// Describes a library call. The program stores only the algorithm that the compiler chose; the other possible
// algorithms are derived from the call.
std::string CallText(const format::Command& command, const format::LibraryCall& call, const CallContext& context) {
  std::string text = absl::StrCat(command.name, ": ", TextOf(call), "\n  ", format::Name(call.algorithm), " (",
                                  call.implementation, ")\n");
  const std::vector<Verdict> verdicts = WeighCall(call, context);
  const Candidate* taken = Taken(verdicts).candidate;
  for (const Verdict& verdict : verdicts) {
    const format::Algorithm algorithm = verdict.candidate->algorithm;
    if (algorithm == call.algorithm) continue;
    absl::StrAppend(&text, "    not ", format::Name(algorithm), ": ",
                    verdict.candidate == taken ? "this machine model would take it"
                                               : WhyNot(verdict, format::Name(taken->algorithm)),
                    "\n");
  }
  return text;
}

bool IsContraction(absl::string_view op) {
  for (absl::string_view part : {"conv2d", "matmul", "filter_grad", "winograd"}) {
    if (absl::StrContains(op, part)) return true;
  }
  return false;
}

std::string KernelText(const format::Kernel& kernel) {
  std::vector<std::string> ops;
  for (const std::string& op : kernel.ops) {
    if (IsContraction(op)) ops.push_back(op);
  }
  return ops.empty() ? "" : absl::StrCat(kernel.name, ": generated, ", absl::StrJoin(ops, ", "), "\n");
}

}  // namespace

absl::StatusOr<std::string> Contractions(const Executable& executable, const MachineModel& machine) {
  const format::Index& index = executable.index();
  TD_ASSIGN_OR_RETURN(const KernelLibrary* library, KernelLibraryOf("cpu"));
  const CallContext context{machine, absl::StrContains(index.target, "avx512f"), *library};
  std::string calls, kernels;
  for (const auto& program : index.programs) {
    for (const auto& section : program.sections) {
      for (const auto& command : section.commands) {
        const format::LibraryCall* call = command.body.As<format::LibraryCall>();
        if (call == nullptr) continue;
        if (program.device_class == "gpu") {
          absl::StrAppend(&calls, command.name, ": ", TextOf(*call), "\n  ", call->implementation,
                          ", which chooses by itself\n");
        } else {
          TD_RETURN_IF_ERROR(CheckLibraryCall(*call).status());
          calls += CallText(command, *call, context);
        }
      }
    }
  }
  for (const auto& kernel : index.kernels) kernels += KernelText(kernel);
  std::string reports;
  for (size_t i = 0; i < index.segments.size(); ++i) {
    if (index.segments[i].kind != format::SegmentKind::kIrText || index.segments[i].name != kContractionReports)
      continue;
    reports = ReportText(executable.segment(static_cast<int>(i)));
  }
  return absl::StrCat(executable.name(), "\n\nContractions, as the compiler chose\n", reports,
                      "\nLibrary calls, by machine model ", machine.name, "\n", calls, "\nKernels\n", kernels);
}

}  // namespace tandem
