#include "runtime/cpu/joint_lanes.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/align.h"
#include "base/status_macros.h"
#include "runtime/cpu/onednn_primitives.h"

namespace tandem {
namespace {

constexpr int kLanes = 2;
// Values of all lanes that run together should stay in the second-level cache.
constexpr uint64_t kMaxArenaBytes = 1 << 20;

class Joiner {
 public:
  explicit Joiner(const Executable& executable)
      : executable_(executable), index_(executable.index()), program_(*index_.programs[index_.replicas[0]->program]) {}

  bool Fits(int num_threads) const {
    return index_.shard_rows == index_.rows_per_lane && executable_.lanes_per_replica() % kLanes == 0 &&
           index_.lanes >= kLanes * num_threads && kLanes * program_.shard_bytes <= kMaxArenaBytes;
  }

  // Whether ShardContext finds all operands of the section's lanes: the buffers are no larger than their values.
  bool FindsAll(const PlannedSection& section) const {
    for (const PlannedStep& step : section.steps) {
      for (const auto* buffers : {&step.step->inputs, &step.step->outputs}) {
        const auto& operands = buffers == &step.step->inputs ? step.inputs : step.outputs;
        for (size_t i = 0; i < operands.size(); ++i) {
          const Operand& o = operands[i];
          const uint64_t bytes = o.row_bytes > 0 ? index_.shard_rows * o.row_bytes : o.bytes();
          if (o.space == fb::Space::Shard && program_.buffers[(*buffers)[i]]->bytes > AlignUp(bytes, 64)) return false;
        }
      }
    }
    return true;
  }

  // The call for the rows of all lanes, if it gains from them.
  std::optional<fb::LibraryCallT> Joint(const PlannedStep& step) const {
    if (step.kind != fb::StepBody::LibraryCall) return std::nullopt;
    fb::LibraryCallT call = *step.step->body.AsLibraryCall();
    constexpr int64_t kMaxRows = 64;
    if (call.algorithm != fb::Algorithm::UnpackedGemm || step.outputs[0].row_bytes == 0) return std::nullopt;
    for (const Operand& o : step.inputs) {
      if (o.row_bytes == 0 && (o.space == fb::Space::Shard || o.space == fb::Space::Lane)) return std::nullopt;
    }
    if (step.inputs[0].row_bytes == 0) return std::nullopt;
    call.x_shape[0] *= kLanes;
    call.y_shape[0] *= kLanes;
    int64_t rows = 1;
    for (size_t i = 0; i + 1 < call.x_shape.size(); ++i) rows *= call.x_shape[i];
    return rows <= kMaxRows ? std::optional(call) : std::nullopt;
  }

 private:
  const Executable& executable_;
  const fb::ExecutableT& index_;
  const fb::ProgramT& program_;
};

}  // namespace

absl::Status PlanJointLanes(const Executable& executable, int num_threads, StepPlan& plan) {
  const Joiner joiner(executable);
  if (!joiner.Fits(num_threads)) return absl::OkStatus();
  for (PlannedSection& section : plan.sections) {
    if (section.kind != fb::SectionKind::Map || section.run_inline || !joiner.FindsAll(section)) continue;
    for (PlannedStep& step : section.steps) {
      const std::optional<fb::LibraryCallT> call = joiner.Joint(step);
      if (!call) continue;
      TD_ASSIGN_OR_RETURN(step.joint_library, OneDnnPrimitive::Create(*call, num_threads));
      plan.scratch_bytes = std::max(plan.scratch_bytes, AlignUp(step.joint_library->scratch_bytes(), 64));
      section.lanes_together = plan.shard_arenas = kLanes;
    }
  }
  return absl::OkStatus();
}

}  // namespace tandem
