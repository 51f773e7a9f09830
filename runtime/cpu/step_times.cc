#include "runtime/cpu/step_times.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tandem {
namespace {

std::string Detail(const fb::ExecutableT& index, const fb::StepT& step) {
  const fb::KernelT* kernel = nullptr;
  if (const auto* launch = step.body.AsKernelLaunch()) kernel = index.kernels[launch->kernel].get();
  if (const auto* group = step.body.AsGroupedLaunch()) kernel = index.kernels[group->kernel].get();
  if (kernel != nullptr)
    return absl::StrCat(kernel->name, " ", kernel->skeleton, ": ", absl::StrJoin(kernel->ops, " "));
  if (const auto* call = step.body.AsLibraryCall()) {
    return absl::StrCat(fb::EnumNamePrimitive(call->primitive), " ", call->implementation);
  }
  return "";
}

}  // namespace

std::vector<StepTime> SumStepTimes(const Executable& executable, const StepPlan& plan, const StepState& state) {
  std::vector<StepTime> result;
  auto add = [&](int id, StepTime time) {
    for (const ThreadState& thread : state.threads) {
      if (thread.times.empty()) continue;
      time.seconds += 1e-9 * static_cast<double>(thread.times[id].nanoseconds);
      time.calls += thread.times[id].calls;
    }
    if (time.calls > 0) result.push_back(std::move(time));
  };
  for (const PlannedSection& section : plan.sections) {
    const char* where = section.kind == fb::SectionKind::Map ? "map" : "global";
    for (const PlannedStep& step : section.steps) {
      StepTime time;
      time.section = where;
      time.kind = fb::EnumNameStepBody(step.kind);
      time.name = step.step->name;
      time.detail = Detail(executable.index(), *step.step);
      add(step.id, std::move(time));
    }
    StepTime merges;
    merges.section = where;
    merges.kind = "LaneSum";
    add(section.merges_id, std::move(merges));
  }
  return result;
}

}  // namespace tandem
