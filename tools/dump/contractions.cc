#include "tools/dump/contractions.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "passes/contraction/candidates.h"
#include "runtime/kernel_library.h"
#include "runtime/library_call.h"
#include "tools/dump/ir_graph.h"

namespace tandem {
namespace {

std::string ShapesOf(const fb::LibraryCallT& call) {
  const auto shape = [](const std::vector<int64_t>& sizes) { return absl::StrJoin(sizes, "x"); };
  std::string text =
      absl::StrCat("x ", shape(call.x_shape), ", kernel ", shape(call.kernel_shape), ", y ", shape(call.y_shape));
  if (LibraryType(call.x_dtype) == fb::DType::BFloat16) text += ", bfloat16";
  if (call.packed) text += ", packed weights";
  return text;
}

// The compiler's own choice stands in the program; what else there was follows from the call.
std::string CallText(const fb::StepT& step, const fb::LibraryCallT& call, const ContractionContext& context) {
  std::string text = absl::StrCat(step.name, ": ", fb::EnumNamePrimitive(call.primitive), " ", ShapesOf(call), "\n  ",
                                  fb::EnumNameAlgorithm(call.algorithm), " (", call.implementation, ")\n");
  for (const Verdict& verdict : WeighAlgorithms(call, context)) {
    if (verdict.algorithm == call.algorithm) continue;
    absl::StrAppend(&text, "    not ", fb::EnumNameAlgorithm(verdict.algorithm), ": ",
                    verdict.why_not.empty() ? "this machine model would take it" : verdict.why_not, "\n");
  }
  return text;
}

bool IsContraction(absl::string_view op) {
  for (absl::string_view part : {"conv2d", "matmul", "filter_grad", "weight_grad", "winograd"}) {
    if (absl::StrContains(op, part)) return true;
  }
  return false;
}

std::string KernelText(const fb::KernelT& kernel) {
  std::vector<std::string> ops;
  for (const std::string& op : kernel.ops) {
    if (IsContraction(op)) ops.push_back(op);
  }
  return ops.empty() ? "" : absl::StrCat(kernel.name, ": generated, ", absl::StrJoin(ops, ", "), "\n");
}

}  // namespace

absl::StatusOr<std::string> Contractions(const Executable& executable, const MachineModel& machine) {
  const fb::ExecutableT& index = executable.index();
  TD_ASSIGN_OR_RETURN(const KernelLibrary* library, KernelLibraryOf("cpu"));
  const ContractionContext context{machine, absl::StrContains(index.target, "avx512f"), *library};
  std::string calls, kernels;
  for (const auto& program : index.programs) {
    for (const auto& section : program->sections) {
      for (const auto& step : section->steps) {
        const fb::LibraryCallT* call = step->body.AsLibraryCall();
        if (call == nullptr) continue;
        if (program->device_class == "gpu") {
          absl::StrAppend(&calls, step->name, ": ", fb::EnumNamePrimitive(call->primitive), " ", ShapesOf(*call),
                          "\n  ", call->implementation, ", which chooses by itself\n");
        } else {
          TD_RETURN_IF_ERROR(CheckLibraryCall(*call).status());
          calls += CallText(*step, *call, context);
        }
      }
    }
  }
  for (const auto& kernel : index.kernels) kernels += KernelText(*kernel);
  std::string text = absl::StrCat(executable.name(), "\nMachine model: ", machine.name, "\n\nLibrary calls\n", calls,
                                  "\nKernels\n", kernels);
  for (size_t i = 0; i < index.segments.size(); ++i) {
    if (index.segments[i]->kind != fb::SegmentKind::IrText || index.segments[i]->name != "layout") continue;
    const std::vector<std::string> notes = WinogradNotes(executable.segment(static_cast<int>(i)));
    if (!notes.empty()) absl::StrAppend(&text, "\nWinograd\n", absl::StrJoin(notes, "\n"), "\n");
  }
  return text;
}

}  // namespace tandem
