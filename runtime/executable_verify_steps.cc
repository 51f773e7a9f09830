#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "runtime/executable_verifier.h"
#include "runtime/library_algorithm.h"

namespace tandem {
namespace {

class StepVerifier : public ExecutableVerifier {
 public:
  StepVerifier(const fb::ExecutableT& index, const fb::ProgramT& program, const std::string& name)
      : ExecutableVerifier(index, name, &program), gpu_(program.device_class == "gpu") {}

  absl::Status Run(const std::string& field) {
    for (size_t i = 0; i < program_->sections.size(); ++i) {
      const fb::SectionT& section = *program_->sections[i];
      std::string at = absl::StrCat(field, ".sections[", i, "]");
      if (!Known(section.kind)) return Bad(at, "unknown kind");
      for (size_t j = 0; j < section.steps.size(); ++j) {
        TD_RETURN_IF_ERROR(CheckStep(absl::StrCat(at, ".steps[", j, "]"), *section.steps[j], section.kind));
      }
    }
    return VerifyExecution(x_, *program_, name_, field);
  }

 private:
  // Whether the lane buffer is a slot, of `kind` if there is one.
  absl::Status CheckSlotOf(const std::string& field, uint32_t buffer, bool has_kind, fb::ReduceKind kind) const {
    for (const auto& slot : program_->lane_slots) {
      if (buffer != slot->buffer) continue;
      return has_kind && slot->kind != kind ? Bad(field, "reduced by another kind than its slot") : absl::OkStatus();
    }
    return Bad(field, "buffer ", buffer, " is not in lane_slots");
  }

  absl::Status CheckOperand(const std::string& field, uint32_t buffer, fb::SectionKind section, bool output) const {
    TD_RETURN_IF_ERROR(CheckIndex(field, buffer, program_->buffers.size(), "buffer"));
    const fb::BufferT& b = Buffer(buffer);
    using fb::Space;
    if (output) {
      if (b.space == Space::Input || b.space == Space::Scalar || b.space == Space::Constant) {
        return Bad(field, "writes to an input, a scalar or a constant");
      }
      if (section == fb::SectionKind::Map) {
        // On a GPU a map section runs once per device.
        if (b.space == Space::Variable || (b.space == Space::Step && !gpu_)) {
          return Bad(field, "a map section cannot write to a variable or the step arena");
        }
        if (b.space == Space::Lane) return CheckSlotOf(field, buffer, false, {});
      } else if (b.space == Space::Lane) {
        return Bad(field, "a global section cannot write to lane slots");
      }
    } else if (section == fb::SectionKind::Map && b.space == Space::Lane) {
      return Bad(field, "a map section cannot read lane slots");
    }
    if (section == fb::SectionKind::Global && (b.space == Space::Shard || b.space == Space::Input)) {
      return Bad(field, "a global section has no shard and no batch");
    }
    return absl::OkStatus();
  }

  absl::Status CheckStep(const std::string& field, const fb::StepT& step, fb::SectionKind section) {
    TD_RETURN_IF_ERROR(CheckLocation(field + ".location", step.location));
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      TD_RETURN_IF_ERROR(CheckOperand(absl::StrCat(field, ".inputs[", i, "]"), step.inputs[i], section, false));
    }
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      TD_RETURN_IF_ERROR(CheckOperand(absl::StrCat(field, ".outputs[", i, "]"), step.outputs[i], section, true));
    }
    bool map = section == fb::SectionKind::Map;
    switch (step.body.value == nullptr ? fb::StepBody::NONE : step.body.type) {
      case fb::StepBody::KernelLaunch:
        return CheckKernelLaunch(field, step, *step.body.AsKernelLaunch(), map);
      case fb::StepBody::LibraryCall:
        return CheckLibrary(field, step, *step.body.AsLibraryCall(), map);
      case fb::StepBody::Copy:
        return CheckCopy(field, step);
      case fb::StepBody::GroupedLaunch:
        return map ? Bad(field, "only a global section can have this")
                   : CheckGrouped(field, *step.body.AsGroupedLaunch());
      case fb::StepBody::LaneReduce:
        return map ? Bad(field, "only a global section can have this") : CheckLaneReduce(field, step);
      case fb::StepBody::AllReduce:
        return map ? Bad(field, "only a global section can have this") : CheckAllReduce(field, step);
      case fb::StepBody::ScatterAdd:
        return map ? Bad(field, "only a global section can have this") : CheckScatterAdd(field, step);
      case fb::StepBody::CheckFinite:
        if (map) return Bad(field, "only a global section can have this");
        return NoLane(field, step);
      default:
        return Bad(field, "unknown body");
    }
  }

  absl::Status NoLane(const std::string& field, const fb::StepT& step) const {
    for (uint32_t b : step.inputs) {
      if (Buffer(b).space == fb::Space::Lane) return Bad(field, "only LaneReduce reads lane slots");
    }
    return absl::OkStatus();
  }

  absl::Status CheckKernelLaunch(const std::string& field, const fb::StepT& step, const fb::KernelLaunchT& launch,
                                 bool map) {
    TD_RETURN_IF_ERROR(CheckIndex(field + ".kernel", launch.kernel, x_.kernels.size(), "kernel"));
    if (!map) TD_RETURN_IF_ERROR(NoLane(field, step));
    const fb::KernelT& kernel = *x_.kernels[launch.kernel];
    if (kernel.domain == fb::Domain::Rows && !map) return Bad(field, "a kernel over rows needs a map section");
    TD_RETURN_IF_ERROR(CheckArguments(field, kernel, step.inputs, step.outputs, launch.count));
    return kernel.domain == fb::Domain::Blocks ? CheckBlocks(field, step, launch, map) : absl::OkStatus();
  }

  // The buffers are what the kernel takes, and as large as it reaches when it is called for `count` elements.
  absl::Status CheckArguments(const std::string& field, const fb::KernelT& kernel, absl::Span<const uint32_t> inputs,
                              absl::Span<const uint32_t> outputs, uint64_t count) const {
    if (inputs.size() != kernel.inputs.size() || outputs.size() != kernel.outputs.size()) {
      return Bad(field, inputs.size(), " inputs and ", outputs.size(), " outputs; kernel ", kernel.name, " takes ",
                 kernel.inputs.size(), " and has ", kernel.outputs.size());
    }
    const bool counts = kernel.domain == fb::Domain::Elements || kernel.domain == fb::Domain::Blocks;
    const auto is_range = [](const auto& a) { return a->extent == fb::Extent::Range; };
    if (counts && kernel.count == 0 && absl::c_none_of(kernel.inputs, is_range) &&
        absl::c_none_of(kernel.outputs, is_range)) {
      return Bad(field, "nothing limits what kernel ", kernel.name, " counts");
    }
    if (kernel.count != 0 && kernel.count != count) {
      return Bad(field, "counts ", count, "; kernel ", kernel.name, " needs ", kernel.count);
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      TD_RETURN_IF_ERROR(CheckArgument(absl::StrCat(field, " input ", i), kernel, *kernel.inputs[i], inputs[i], count));
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      TD_RETURN_IF_ERROR(
          CheckArgument(absl::StrCat(field, " output ", i), kernel, *kernel.outputs[i], outputs[i], count));
    }
    return absl::OkStatus();
  }

  absl::Status CheckArgument(const std::string& field, const fb::KernelT& kernel, const fb::KernelArgumentT& argument,
                             uint32_t buffer, uint64_t count) const {
    const fb::BufferT& b = Buffer(buffer);
    const uint64_t elements = static_cast<uint64_t>(Elements(buffer));
    const bool fits = argument.extent == fb::Extent::Range ? elements >= count : elements == argument.elements;
    if (b.dtype == argument.dtype && (b.row_bytes > 0) == (argument.extent == fb::Extent::Row) && fits) {
      return absl::OkStatus();
    }
    return Bad(
        field, "buffer ", buffer, " is ", Name(static_cast<DType>(b.dtype)), ShapeString(b.shape), "; kernel ",
        kernel.name, " takes ",
        argument.extent == fb::Extent::Range ? absl::StrCat("at least ", count) : absl::StrCat(argument.elements),
        " elements", argument.extent == fb::Extent::Row ? " a row" : "", " of ",
        Name(static_cast<DType>(argument.dtype)));
  }

  // Rows of one output, from batched inputs.
  absl::Status CheckBlocks(const std::string& field, const fb::StepT& step, const fb::KernelLaunchT& launch,
                           bool map) const {
    if (map) return Bad(field, "a kernel over blocks needs a global section");
    if (step.outputs.size() != 1) return Bad(field, "a kernel over blocks has one output");
    const fb::BufferT& out = Buffer(step.outputs[0]);
    // A matrix of all dimensions but the last by that one.
    const int64_t columns = out.shape.empty() ? 0 : out.shape.back();
    if (out.row_bytes > 0 || columns <= 0 || launch.count == 0 ||
        launch.count > static_cast<uint64_t>(Elements(step.outputs[0])) / columns ||
        launch.count * columns != static_cast<uint64_t>(Elements(step.outputs[0]))) {
      return Bad(field, "the output does not have ", launch.count, " rows");
    }
    for (uint32_t b : step.inputs) {
      if (Buffer(b).row_bytes == 0) return Bad(field, "input ", b, " is not batched");
    }
    return absl::OkStatus();
  }

  absl::Status CheckGrouped(const std::string& field, const fb::GroupedLaunchT& g) {
    TD_RETURN_IF_ERROR(CheckIndex(field + ".kernel", g.kernel, x_.kernels.size(), "kernel"));
    const fb::KernelT& kernel = *x_.kernels[g.kernel];
    if (kernel.domain != fb::Domain::Elements) return Bad(field, "needs a kernel over elements");
    if (g.num_args == 0 || g.num_args != kernel.inputs.size() + kernel.outputs.size()) {
      return Bad(field, g.num_args, " arguments for each member; kernel ", kernel.name, " has ",
                 kernel.inputs.size() + kernel.outputs.size());
    }
    if (g.args.size() != uint64_t{g.num_args} * g.counts.size()) {
      return Bad(field, g.args.size(), " arguments for ", g.counts.size(), " members with ", g.num_args, " each");
    }
    for (size_t i = 0; i < g.args.size(); ++i) {
      std::string at = absl::StrCat(field, ".args[", i, "]");
      const bool output = i % g.num_args >= kernel.inputs.size();
      TD_RETURN_IF_ERROR(CheckOperand(at, g.args[i], fb::SectionKind::Global, output));
      if (Buffer(g.args[i]).space == fb::Space::Lane) return Bad(at, "only LaneReduce reads lane slots");
    }
    for (size_t member = 0; member < g.counts.size(); ++member) {
      const auto args = absl::MakeConstSpan(g.args).subspan(member * g.num_args, g.num_args);
      TD_RETURN_IF_ERROR(CheckArguments(absl::StrCat(field, " member ", member), kernel,
                                        args.first(kernel.inputs.size()), args.subspan(kernel.inputs.size()),
                                        g.counts[member]));
    }
    return absl::OkStatus();
  }

  absl::Status CheckCopy(const std::string& field, const fb::StepT& step) {
    if (step.inputs.size() != 1 || step.outputs.size() != 1) return Bad(field, "a copy has one input and one output");
    const fb::BufferT &from = Buffer(step.inputs[0]), &to = Buffer(step.outputs[0]);
    if (from.dtype != to.dtype || from.row_bytes != to.row_bytes ||
        Elements(step.inputs[0]) != Elements(step.outputs[0])) {
      return Bad(field, "input and output differ in size");
    }
    if (from.space == fb::Space::Lane || to.space == fb::Space::Lane) return Bad(field, "lane slots cannot be copied");
    return absl::OkStatus();
  }

  absl::Status CheckScatterAdd(const std::string& field, const fb::StepT& step) const {
    if (step.inputs.size() != 2 || step.outputs.size() != 1) {
      return Bad(field, "needs updates and indices and has one output");
    }
    TD_RETURN_IF_ERROR(NoLane(field, step));
    const fb::BufferT &updates = Buffer(step.inputs[0]), &indices = Buffer(step.inputs[1]);
    const fb::BufferT& out = Buffer(step.outputs[0]);
    if (updates.dtype != out.dtype || (out.dtype != fb::DType::Float32 && out.dtype != fb::DType::Float64)) {
      return Bad(field, "updates and output must be of one floating-point type");
    }
    if (indices.dtype != fb::DType::Int32 && indices.dtype != fb::DType::Int64) {
      return Bad(field, "indices must be int32 or int64");
    }
    if (out.row_bytes > 0 || (updates.row_bytes > 0) != (indices.row_bytes > 0)) {
      return Bad(field, "both inputs are batched or neither is, and the output is not");
    }
    const int64_t rows = out.shape.empty() ? 0 : out.shape[0], elements = Elements(step.outputs[0]);
    if (rows <= 0 || elements <= 0) return Bad(field, "the output has no rows");
    const int64_t width = elements / rows, given = Elements(step.inputs[0]);
    if (given % width != 0 || given / width != Elements(step.inputs[1])) {
      return Bad(field, "updates, indices and rows do not fit together");
    }
    return absl::OkStatus();
  }

  absl::Status CheckLaneReduce(const std::string& field, const fb::StepT& step) {
    fb::ReduceKind kind = step.body.AsLaneReduce()->kind;
    if (!Known(kind) || kind == fb::ReduceKind::Mean) return Bad(field, "bad kind");
    TD_RETURN_IF_ERROR(CheckReduceOperands(field, step, kind));
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      if (Buffer(step.inputs[i]).space != fb::Space::Lane) return Bad(field, "input ", i, " is not in the lane slot");
      if (Buffer(step.outputs[i]).space != fb::Space::Step)
        return Bad(field, "output ", i, " is not in the step arena");
      TD_RETURN_IF_ERROR(CheckSlotOf(field, step.inputs[i], true, kind));
    }
    return absl::OkStatus();
  }

  absl::Status CheckAllReduce(const std::string& field, const fb::StepT& step) {
    const fb::AllReduceT& body = *step.body.AsAllReduce();
    if (!Known(body.kind)) return Bad(field, "bad kind");
    TD_RETURN_IF_ERROR(CheckIndex(field + ".collective", body.collective, x_.collectives.size(), "collective"));
    if (step.inputs != step.outputs) return Bad(field, "an all-reduce works in place");
    for (uint32_t b : step.inputs) {
      if (Buffer(b).space != fb::Space::Step) return Bad(field, "buffer ", b, " is not in the step arena");
    }
    return CheckReduceOperands(field, step, body.kind);
  }

  absl::Status CheckReduceOperands(const std::string& field, const fb::StepT& step, fb::ReduceKind kind) {
    if (step.inputs.size() != step.outputs.size()) return Bad(field, "as many inputs as outputs are needed");
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      uint32_t in = step.inputs[i], out = step.outputs[i];
      if (Buffer(in).dtype != Buffer(out).dtype || Elements(in) != Elements(out) || Buffer(in).row_bytes > 0) {
        return Bad(field, "input and output ", i, " differ");
      }
      TD_RETURN_IF_ERROR(CheckReducible(field, in, kind));
    }
    return absl::OkStatus();
  }

  absl::Status CheckLibrary(const std::string& field, const fb::StepT& step, const fb::LibraryCallT& call, bool map) {
    absl::StatusOr<LibraryOperands> operands = CheckLibraryCall(call);
    if (!operands.ok()) return Bad(field, operands.status().message());
    if (gpu_ && call.algorithm != fb::Algorithm::Library) return Bad(field, "this algorithm is for CPUs");
    if (absl::Status s = CheckAlgorithm(call); !gpu_ && !s.ok()) return Bad(field, s.message());
    if (!gpu_ && call.epilogue > fb::Epilogue::Relu) return Bad(field, "this epilogue is for GPUs");
    if (!map) TD_RETURN_IF_ERROR(NoLane(field, step));
    if (step.inputs.size() != operands->inputs.size() || step.outputs.size() != operands->outputs.size()) {
      return Bad(field, "wrong number of inputs or outputs");
    }
    if (call.adds) TD_RETURN_IF_ERROR(CheckResidual(field, step, map));
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      TD_RETURN_IF_ERROR(CheckLibraryOperand(absl::StrCat(field, ".inputs[", i, "]"), step.inputs[i],
                                             operands->inputs[i], operands->input_types[i]));
    }
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      TD_RETURN_IF_ERROR(CheckLibraryOperand(absl::StrCat(field, ".outputs[", i, "]"), step.outputs[i],
                                             operands->outputs[i], operands->output_types[i]));
    }
    return absl::OkStatus();
  }

  // Rows beyond those that are there may be written in the shard arena only.
  absl::Status CheckResidual(const std::string& field, const fb::StepT& step, bool map) const {
    if (gpu_ || !map) return Bad(field, "only a CPU's map section adds a residual");
    const uint32_t residual = step.inputs.back();
    if (step.outputs[0] != residual || Buffer(residual).space != fb::Space::Shard || Buffer(residual).row_bytes == 0) {
      return Bad(field, "the residual must be batched, in the shard arena, and the output");
    }
    return absl::OkStatus();
  }

  absl::Status CheckLibraryOperand(const std::string& field, uint32_t buffer, const std::vector<int64_t>& shape,
                                   fb::DType type) const {
    const fb::BufferT& b = Buffer(buffer);
    if (shape.empty()) return b.row_bytes == 0 ? absl::OkStatus() : Bad(field, "packed weights cannot be batched");
    if (b.dtype != type) return Bad(field, "the call needs ", Name(static_cast<DType>(type)));
    int64_t elements = CheckedElements(shape);
    if (b.row_bytes > 0) {
      if (shape[0] != x_.shard_rows || elements != Elements(buffer) * x_.shard_rows) {
        return Bad(field, "the call needs ", ShapeString(shape), ", not the rows of a shard");
      }
    } else if (elements != Elements(buffer)) {
      return Bad(field, "the call needs ", ShapeString(shape));
    }
    return absl::OkStatus();
  }

  const bool gpu_;
};

}  // namespace

absl::Status VerifySteps(const fb::ExecutableT& index, const fb::ProgramT& program, const std::string& name,
                         const std::string& field) {
  return StepVerifier(index, program, name).Run(field);
}

}  // namespace tandem
