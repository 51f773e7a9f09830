#include "runtime/cpu/step_plan.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/align.h"
#include "base/annotate.h"
#include "base/exit_code.h"
#include "base/status_macros.h"
#include "runtime/block_kernel.h"
#include "runtime/cpu/block_updates.h"
#include "runtime/cpu/onednn_layout.h"

namespace tandem {
namespace {

// Elements of one task of a global step: some microseconds of work.
constexpr int64_t kTaskElements = 8192;
constexpr int64_t kScatterPieces = 64;
// Elements of one block of a kernel's output: some hundred microseconds of multiply-adds.
constexpr int64_t kBlockElements = 65536;

class Planner {
 public:
  Planner(const Executable& executable, const LoadedKernels& kernels, int num_threads)
      : executable_(executable),
        index_(executable.index()),
        program_(*index_.programs[index_.replicas[0]->program]),
        kernels_(kernels),
        num_threads_(num_threads) {}

  absl::StatusOr<StepPlan> Run() {
    for (const auto& output : index_.outputs) plan_.outputs.push_back(MakeOperand(output->buffer));
    for (const auto& section : program_.sections) {
      PlannedSection planned;
      planned.kind = section->kind;
      planned.run_inline = section->run_inline;
      for (const auto& step : section->steps) {
        absl::StatusOr<PlannedStep> p = PlanStep(*step);
        if (!p.ok()) return Annotate(p.status(), absl::StrCat(step->name, ": "), At(*step));
        plan_.max_operands = std::max(plan_.max_operands, p->inputs.size() + p->outputs.size());
        p->id = plan_.num_ids++;
        planned.steps.push_back(*std::move(p));
      }
      AddBlockUpdates(planned, *section);
      if (section->kind == fb::SectionKind::Map) {
        AddMerges(planned, *section);
        TD_RETURN_IF_ERROR(JoinLanes(planned, *section));
      }
      planned.merges_id = plan_.num_ids++;
      plan_.sections.push_back(std::move(planned));
    }
    return std::move(plan_);
  }

 private:
  std::string At(const fb::StepT& step) const {
    std::string location = executable_.LocationString(step.location);
    return location.empty() ? "" : absl::StrCat(" [", location, "]");
  }

  Operand MakeOperand(uint32_t buffer) const {
    const fb::BufferT& b = *program_.buffers[buffer];
    Operand o;
    o.space = b.space;
    o.dtype = static_cast<DType>(b.dtype);
    o.index = b.index;
    o.offset = b.offset;
    o.row_bytes = b.row_bytes;
    o.common = b.common;
    auto shape = absl::MakeConstSpan(b.shape);
    o.elements = NumElements(b.row_bytes > 0 ? shape.subspan(1) : shape);
    return o;
  }

  absl::StatusOr<PlannedStep> PlanStep(const fb::StepT& step) {
    PlannedStep p;
    p.step = &step;
    p.kind = step.body.type;
    for (uint32_t b : step.inputs) p.inputs.push_back(MakeOperand(b));
    for (uint32_t b : step.outputs) p.outputs.push_back(MakeOperand(b));
    switch (p.kind) {
      case fb::StepBody::KernelLaunch: {
        const fb::KernelLaunchT& launch = *step.body.AsKernelLaunch();
        p.function = kernels_.function(static_cast<int>(launch.kernel));
        p.domain = index_.kernels[launch.kernel]->domain;
        p.count =
            p.domain == fb::Domain::Elements || p.domain == fb::Domain::Blocks ? static_cast<int64_t>(launch.count) : 1;
        AddPieces(p, 0, p.count, p.domain == fb::Domain::Blocks ? BlockRows(p) : kTaskElements);
        break;
      }
      case fb::StepBody::GroupedLaunch: {
        const fb::GroupedLaunchT& group = *step.body.AsGroupedLaunch();
        p.function = kernels_.function(static_cast<int>(group.kernel));
        p.num_args = static_cast<int>(group.num_args);
        for (uint32_t b : group.args) p.group_args.push_back(MakeOperand(b));
        for (size_t i = 0; i < group.counts.size(); ++i) {
          AddPieces(p, static_cast<int>(i), static_cast<int64_t>(group.counts[i]), kTaskElements);
        }
        break;
      }
      case fb::StepBody::LibraryCall:
        TD_RETURN_IF_ERROR(PlanLibrary(step, *step.body.AsLibraryCall(), p));
        AddPieces(p, 0, p.library->parts(), 1);
        break;
      case fb::StepBody::LaneReduce:
        p.reduce = step.body.AsLaneReduce()->kind;
        PlanReduce(p);
        break;
      case fb::StepBody::AllReduce:
        p.reduce = step.body.AsAllReduce()->kind;
        PlanReduce(p);
        break;
      case fb::StepBody::ScatterAdd:
        PlanScatterAdd(step, p);
        break;
      case fb::StepBody::CheckFinite:
        for (size_t i = 0; i < p.inputs.size(); ++i) {
          bool floating = p.inputs[i].dtype == DType::kFloat32 || p.inputs[i].dtype == DType::kFloat64;
          if (floating) AddPieces(p, static_cast<int>(i), p.inputs[i].elements, kTaskElements);
        }
        break;
      default:
        AddPieces(p, 0, p.outputs.empty() ? 1 : p.outputs[0].elements, std::max<int64_t>(1, p.outputs[0].elements));
    }
    GroupPieces(p.work, p.library != nullptr || p.domain == fb::Domain::Blocks);
    return p;
  }

  absl::Status PlanLibrary(const fb::StepT& step, const fb::LibraryCallT& call, PlannedStep& p) {
    TD_ASSIGN_OR_RETURN(p.library, OneDnnPrimitive::Create(call, num_threads_));
    bool packs = call.primitive == fb::Primitive::PackWeights;
    if (packs || call.packed) {
      TD_ASSIGN_OR_RETURN(uint64_t bytes, PackedWeightsBytes(call));
      const fb::BufferT& b = *program_.buffers[packs ? step.outputs[0] : step.inputs[1]];
      if (b.bytes < bytes) {
        return WithExitCode(absl::DataLossError(absl::StrCat(executable_.name(), ": packed weights need ", bytes,
                                                             " bytes and buffer ", b.name, " has ", b.bytes)),
                            kExitBadData);
      }
    }
    p.reduces_batch = call.reduces_batch || call.primitive == fb::Primitive::Conv2DFilterGrad;
    plan_.scratch_bytes = std::max(plan_.scratch_bytes, AlignUp(p.library->scratch_bytes(), 64));
    uint64_t staging = 0;
    for (const auto* operands : {&p.inputs, &p.outputs}) {
      for (const Operand& o : *operands) staging += AlignUp(o.row_bytes * index_.shard_rows, 64);
    }
    plan_.staging_bytes = std::max(plan_.staging_bytes, staging);
    return absl::OkStatus();
  }

  // Pieces are whole rows of the table; each looks through all indices, so there are not many.
  void PlanScatterAdd(const fb::StepT& step, PlannedStep& p) const {
    const int64_t rows = program_.buffers[step.outputs[0]]->shape[0];
    p.width = p.outputs[0].elements / rows;
    const int64_t piece_rows = std::max((rows + kScatterPieces - 1) / kScatterPieces, kTaskElements / p.width + 1);
    AddPieces(p, 0, p.outputs[0].elements, piece_rows * p.width);
  }

  static void PlanReduce(PlannedStep& p) {
    for (size_t i = 0; i < p.inputs.size(); ++i) {
      AddPieces(p, static_cast<int>(i), p.inputs[i].elements, kTaskElements);
    }
  }

  // Rows of the output that fill a core's cache beside the operands' columns that they are made of; whole register
  // tiles.
  int64_t BlockRows(const PlannedStep& p) const {
    const int64_t columns = std::max<int64_t>(1, p.outputs[0].elements / p.count);
    const std::vector<int64_t>& shape = program_.buffers[p.step->outputs[0]]->shape;
    if (shape.size() == 4) {  // HWIO, whose rows go channel by channel
      const int64_t taps = shape[0] * shape[1], share = shape[2] / (2 * num_threads_) / 8 * 8;
      return taps * std::clamp<int64_t>(share, 8, ImageBlockChannels(taps));
    }
    return std::max<int64_t>(8, kBlockElements / columns / 8 * 8);
  }

  static void AddPieces(PlannedStep& p, int item, int64_t n, int64_t size) {
    for (int64_t begin = 0; begin < n; begin += size) p.work.pieces.push_back({item, begin, std::min(n, begin + size)});
  }

  // Small pieces share a task, unless they are counted in something larger than elements.
  static void GroupPieces(PlannedWork& work, bool apart) {
    int64_t in_task = 0;
    work.tasks.clear();
    for (size_t i = 0; i < work.pieces.size(); ++i) {
      int64_t n = work.pieces[i].end - work.pieces[i].begin;
      if (i == 0 || in_task + n > kTaskElements || apart) {
        work.tasks.push_back(static_cast<int>(i));
        in_task = 0;
      }
      in_task += n;
    }
    work.tasks.push_back(static_cast<int>(work.pieces.size()));
  }

  void AddBlockUpdates(PlannedSection& planned, const fb::SectionT& section) {
    PlanBlockUpdates(section, planned, &plan_.scratch_bytes);
    for (PlannedStep& p : planned.steps) {
      if (p.others) GroupPieces(*p.others, false);
    }
  }

  // A thread has as many lanes as run together, or they run one by one: the compiler does not know the threads.
  absl::Status JoinLanes(PlannedSection& planned, const fb::SectionT& section) {
    const auto together = static_cast<int>(section.lanes_together);
    if (together == 1 || static_cast<int>(index_.lanes) < together * num_threads_) return absl::OkStatus();
    planned.lanes_together = together;
    plan_.shard_arenas = std::max(plan_.shard_arenas, together);
    for (PlannedStep& p : planned.steps) {
      if (!p.step->joint) continue;
      fb::LibraryCallT call = *p.step->body.AsLibraryCall();
      call.x_shape[0] *= together;
      call.y_shape[0] *= together;
      TD_ASSIGN_OR_RETURN(p.joint_library, OneDnnPrimitive::Create(call, num_threads_));
      plan_.scratch_bytes = std::max(plan_.scratch_bytes, AlignUp(p.joint_library->scratch_bytes(), 64));
    }
    return absl::OkStatus();
  }

  void AddMerges(PlannedSection& planned, const fb::SectionT& section) {
    for (const auto& slot : program_.lane_slots) {
      const bool written = std::any_of(section.steps.begin(), section.steps.end(), [&](const auto& step) {
        return std::find(step->outputs.begin(), step->outputs.end(), slot->buffer) != step->outputs.end();
      });
      if (written) planned.merges.push_back({slot->kind, MakeOperand(slot->buffer)});
    }
  }

  const Executable& executable_;
  const fb::ExecutableT& index_;
  const fb::ProgramT& program_;
  const LoadedKernels& kernels_;
  const int num_threads_;
  StepPlan plan_;
};

}  // namespace

bool PlannedStep::WritesVariables() const {
  if (kind == fb::StepBody::GroupedLaunch) return true;
  for (const Operand& o : outputs) {
    if (o.space == fb::Space::Variable) return true;
  }
  return false;
}

absl::StatusOr<StepPlan> MakeStepPlan(const Executable& executable, const LoadedKernels& kernels, int num_threads) {
  return Planner(executable, kernels, num_threads).Run();
}

}  // namespace tandem
