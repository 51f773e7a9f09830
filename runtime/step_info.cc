#include "runtime/step_info.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tandem {
namespace {

double Product(const std::vector<int64_t>& sizes) {
  double product = 1;
  for (int64_t size : sizes) product *= static_cast<double>(size);
  return product;
}

class StepLister {
 public:
  explicit StepLister(const Executable& executable)
      : executable_(executable),
        index_(executable.index()),
        program_(*index_.programs[index_.replicas.empty() ? 0 : index_.replicas[0]->program]) {}

  std::vector<StepInfo> Run() {
    for (const auto& section : program_.sections) {
      for (const auto& step : section->steps) {
        StepInfo& info = Add(*section, fb::EnumNameStepBody(step->body.type));
        info.step = step.get();
        info.name = step->name;
        info.source = Source(step->location);
        info.detail = Detail(*step);
        info.library = step->body.type == fb::StepBody::LibraryCall;
        info.bfloat16 = info.library && Narrow(step->inputs[0]);
        info.work = WorkOf(*step, info.map);
      }
      StepInfo& merges = Add(*section, "LaneSum");
      if (merges.map) merges.work = WorkOfMerges(*section);
    }
    return std::move(steps_);
  }

 private:
  StepInfo& Add(const fb::SectionT& section, const char* kind) {
    StepInfo info;
    info.id = static_cast<int>(steps_.size());
    info.section = section.name;
    info.map = section.kind == fb::SectionKind::Map;
    info.kind = kind;
    steps_.push_back(std::move(info));
    return steps_.back();
  }

  std::string Source(uint32_t location) const {
    if (location >= index_.debug->locations.size()) return "";
    const fb::LocationT& l = *index_.debug->locations[location];
    return l.file.empty() ? "" : absl::StrCat(l.file, ":", l.line);
  }

  const fb::KernelT* KernelOf(const fb::StepT& step) const {
    if (const auto* launch = step.body.AsKernelLaunch()) return index_.kernels[launch->kernel].get();
    if (const auto* group = step.body.AsGroupedLaunch()) return index_.kernels[group->kernel].get();
    return nullptr;
  }

  std::string Detail(const fb::StepT& step) const {
    if (const fb::KernelT* kernel = KernelOf(step)) {
      return absl::StrCat(kernel->name, " ", kernel->skeleton, ": ", absl::StrJoin(kernel->ops, " "));
    }
    if (const auto* call = step.body.AsLibraryCall()) {
      return absl::StrCat(fb::EnumNamePrimitive(call->primitive), " ", call->implementation);
    }
    return "";
  }

  // Of two bytes: bfloat16.
  bool Narrow(uint32_t buffer) const { return SizeOf(static_cast<DType>(program_.buffers[buffer]->dtype)) == 2; }

  // A batched buffer counts per row, but whole in a global section; any other whole.
  void AddBytes(uint32_t buffer, double times, bool map, ExecutionWork& work) const {
    const fb::BufferT& b = *program_.buffers[buffer];
    if (b.row_bytes > 0 && !map) {
      work.bytes += times * static_cast<double>(b.row_bytes) * static_cast<double>(executable_.rows_per_replica());
    } else if (b.row_bytes > 0) {
      work.bytes_per_row += times * static_cast<double>(b.row_bytes);
    } else {
      work.bytes += times * static_cast<double>(b.bytes);
    }
  }

  double Elements(uint32_t buffer) const {
    const fb::BufferT& b = *program_.buffers[buffer];
    return static_cast<double>(b.bytes) / static_cast<double>(SizeOf(static_cast<DType>(b.dtype)));
  }

  ExecutionWork WorkOf(const fb::StepT& step, bool map) const {
    ExecutionWork work;
    std::vector<uint32_t> operands = step.inputs;
    operands.insert(operands.end(), step.outputs.begin(), step.outputs.end());
    if (const auto* group = step.body.AsGroupedLaunch())
      operands.insert(operands.end(), group->args.begin(), group->args.end());
    double times = 1;
    if (step.body.type == fb::StepBody::AllReduce) times = 2;  // read, and the result written
    std::set<uint32_t> seen;
    bool batched = false;
    for (uint32_t b : operands) {
      if (!seen.insert(b).second) continue;
      // A lane reduction reads the slots of all lanes.
      const bool slots = program_.buffers[b]->space == fb::Space::Lane && step.body.type == fb::StepBody::LaneReduce;
      AddBytes(b, slots ? executable_.lanes_per_replica() : times, map, work);
      batched |= program_.buffers[b]->row_bytes > 0;
    }
    if (const auto* launch = step.body.AsKernelLaunch()) {
      const fb::KernelT& kernel = *index_.kernels[launch->kernel];
      const double flops = static_cast<double>(kernel.flops_per_row);
      if (kernel.domain == fb::Domain::Rows) {
        work.flops_per_row = flops;
      } else {
        // A flat kernel counts the operations of an element, one over blocks those of a row of the batch, others all.
        work.flops =
            flops * (kernel.skeleton == "flat"             ? static_cast<double>(launch->count)
                     : kernel.domain == fb::Domain::Blocks ? static_cast<double>(executable_.rows_per_replica())
                                                           : 1);
      }
    } else if (const auto* group = step.body.AsGroupedLaunch()) {
      for (uint64_t count : group->counts) {
        work.flops += static_cast<double>(index_.kernels[group->kernel]->flops_per_row * count);
      }
    } else if (const auto* call = step.body.AsLibraryCall()) {
      const double flops = LibraryFlops(*call);
      (batched ? work.flops_per_row : work.flops) = batched ? flops / std::max<double>(index_.shard_rows, 1) : flops;
    } else if (step.body.type == fb::StepBody::LaneReduce) {
      for (uint32_t b : step.inputs) work.flops += Elements(b) * (executable_.lanes_per_replica() - 1);
    } else if (step.body.type == fb::StepBody::AllReduce) {
      const double replicas = executable_.num_replicas();
      for (uint32_t b : step.inputs) work.flops += Elements(b) * (replicas - 1) / replicas;
    }
    return work;
  }

  ExecutionWork WorkOfMerges(const fb::SectionT& section) const {
    std::set<uint32_t> written;
    for (const auto& step : section.steps) written.insert(step->outputs.begin(), step->outputs.end());
    ExecutionWork work;
    for (const auto& slot : program_.lane_slots) {
      if (written.count(slot->buffer) == 0) continue;
      AddBytes(slot->buffer, 3, /*map=*/true, work);  // both summands and the sum
      work.flops += Elements(slot->buffer);
    }
    return work;
  }

  const Executable& executable_;
  const fb::ExecutableT& index_;
  const fb::ProgramT& program_;
  std::vector<StepInfo> steps_;
};

}  // namespace

double LibraryFlops(const fb::LibraryCallT& call) {
  switch (call.primitive) {
    case fb::Primitive::PackWeights:
      return 0;
    case fb::Primitive::Conv2D:
    case fb::Primitive::Conv2DInputGrad:
    case fb::Primitive::Conv2DFilterGrad:
      // Each output of the forward convolution meets every weight of its channel once, in all three directions.
      return call.kernel_shape.empty() ? 0
                                       : 2 * Product(call.y_shape) * Product(call.kernel_shape) /
                                             static_cast<double>(call.kernel_shape.back());
    default:
      // Matrix products: each element of the left side meets a row of the right one, transposed, batched or not.
      return call.y_shape.empty() ? 0 : 2 * Product(call.x_shape) * static_cast<double>(call.y_shape.back());
  }
}

std::vector<StepInfo> ListSteps(const Executable& executable) { return StepLister(executable).Run(); }

}  // namespace tandem
