#include "runtime/commands/command_verifier.h"

#include <algorithm>

#include "runtime/commands/gpu_launch.h"

namespace tandem {

absl::Status CommandVerifier::CheckOperands(const std::string& field, const format::Command& table,
                                            format::SectionKind section) const {
  TD_RETURN_IF_ERROR(CheckLocation(field + ".location", table.location));
  for (size_t i = 0; i < table.inputs.size(); ++i) {
    TD_RETURN_IF_ERROR(CheckOperand(absl::StrCat(field, ".inputs[", i, "]"), table.inputs[i], section, false));
  }
  for (size_t i = 0; i < table.outputs.size(); ++i) {
    TD_RETURN_IF_ERROR(CheckOperand(absl::StrCat(field, ".outputs[", i, "]"), table.outputs[i], section, true));
  }
  return absl::OkStatus();
}

absl::Status CommandVerifier::CheckOperand(const std::string& field, uint32_t buffer, format::SectionKind section,
                                           bool output) const {
  TD_RETURN_IF_ERROR(CheckIndex(field, buffer, program().buffers.size(), "buffer"));
  const format::Buffer& b = Buffer(buffer);
  using format::Space;
  if (output) {
    if (b.space == Space::kInput || b.space == Space::kScalar || b.space == Space::kConstant) {
      return Bad(field, "writes to an input, a scalar or a constant");
    }
    if (section == format::SectionKind::kMap) {
      // A map section may write the step arena on a GPU, where it runs once per device.
      if (b.space == Space::kVariable || (b.space == Space::kStep && !gpu())) {
        return Bad(field, "a map section cannot write to a variable or the step arena");
      }
      if (b.space == Space::kLane) return CheckSlot(field, buffer, nullptr);
    } else if (b.space == Space::kLane) {
      return Bad(field, "a global section cannot write to lane slots");
    }
  } else if (section == format::SectionKind::kMap && b.space == Space::kLane) {
    return Bad(field, "a map section cannot read lane slots");
  }
  if (section == format::SectionKind::kGlobal && (b.space == Space::kMicrobatch || b.space == Space::kInput)) {
    return Bad(field, "a global section has no microbatch and no batch");
  }
  return absl::OkStatus();
}

absl::Status CommandVerifier::NeedsGlobal(const std::string& field, format::SectionKind section) const {
  return section == format::SectionKind::kGlobal ? absl::OkStatus() : Bad(field, "only a global section can have this");
}

absl::Status CommandVerifier::ReadsNoSlots(const std::string& field, absl::Span<const uint32_t> buffers) const {
  for (uint32_t b : buffers) {
    if (Buffer(b).space == format::Space::kLane) return Bad(field, "only LaneReduce reads lane slots");
  }
  return absl::OkStatus();
}

absl::Status CommandVerifier::CheckSlot(const std::string& field, uint32_t buffer,
                                        const format::ReduceKind* kind) const {
  for (const auto& slot : program().lane_slots) {
    if (buffer != slot.buffer) continue;
    return kind != nullptr && slot.kind != *kind ? Bad(field, "reduced by another kind than its slot")
                                                 : absl::OkStatus();
  }
  return Bad(field, "buffer ", buffer, " is not in lane_slots");
}

absl::Status CommandVerifier::CheckKernelArguments(const std::string& field, const format::Kernel& kernel,
                                                   absl::Span<const uint32_t> inputs,
                                                   absl::Span<const uint32_t> outputs, uint64_t count) const {
  if (inputs.size() != kernel.inputs.size() || outputs.size() != kernel.outputs.size()) {
    return Bad(field, inputs.size(), " inputs and ", outputs.size(), " outputs; kernel ", kernel.name, " takes ",
               kernel.inputs.size(), " and has ", kernel.outputs.size());
  }
  const bool counts = kernel.domain == format::Domain::kElements || kernel.domain == format::Domain::kBlocks;
  const auto is_range = [](const auto& a) { return a.extent == format::Extent::kRange; };
  if (counts && kernel.count == 0 && std::none_of(kernel.inputs.begin(), kernel.inputs.end(), is_range) &&
      std::none_of(kernel.outputs.begin(), kernel.outputs.end(), is_range)) {
    return Bad(field, "nothing limits what kernel ", kernel.name, " counts");
  }
  if (kernel.count != 0 && kernel.count != count) {
    return Bad(field, "counts ", count, "; kernel ", kernel.name, " needs ", kernel.count);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    TD_RETURN_IF_ERROR(
        CheckKernelArgument(absl::StrCat(field, " input ", i), kernel, kernel.inputs[i], inputs[i], count));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    TD_RETURN_IF_ERROR(
        CheckKernelArgument(absl::StrCat(field, " output ", i), kernel, kernel.outputs[i], outputs[i], count));
  }
  return absl::OkStatus();
}

absl::Status CommandVerifier::CheckKernelArgument(const std::string& field, const format::Kernel& kernel,
                                                  const format::KernelArgument& argument, uint32_t buffer,
                                                  uint64_t count) const {
  const format::Buffer& b = Buffer(buffer);
  const uint64_t elements = static_cast<uint64_t>(Elements(buffer));
  const bool fits = argument.extent == format::Extent::kRange ? elements >= count : elements == argument.elements;
  if (b.dtype == argument.dtype && (b.row_bytes > 0) == (argument.extent == format::Extent::kRow) && fits) {
    return absl::OkStatus();
  }
  return Bad(
      field, "buffer ", buffer, " is ", Name(b.dtype), ShapeString(b.shape), "; kernel ", kernel.name, " takes ",
      argument.extent == format::Extent::kRange ? absl::StrCat("at least ", count) : absl::StrCat(argument.elements),
      " elements", argument.extent == format::Extent::kRow ? " a row" : "", " of ", Name(argument.dtype));
}

absl::Status CommandVerifier::CheckReduceOperands(const std::string& field, const format::Command& table,
                                                  format::ReduceKind kind) const {
  if (table.inputs.size() != table.outputs.size()) return Bad(field, "as many inputs as outputs are needed");
  for (size_t i = 0; i < table.inputs.size(); ++i) {
    const uint32_t in = table.inputs[i], out = table.outputs[i];
    if (Buffer(in).dtype != Buffer(out).dtype || Elements(in) != Elements(out) || Buffer(in).row_bytes > 0) {
      return Bad(field, "input and output ", i, " differ");
    }
    TD_RETURN_IF_ERROR(CheckReducible(field, in, kind));
  }
  return absl::OkStatus();
}

absl::Status GpuCommandVerifier::CheckLaunch(const std::string& field, const format::Kernel& kernel,
                                             uint64_t count) const {
  const uint64_t items = kernel.domain == format::Domain::kRows   ? index().microbatch_rows
                         : kernel.domain == format::Domain::kOnce ? 1
                                                                  : count;
  // Dividing first keeps the product of grid and split from overflowing.
  if (items / kernel.gpu->items_per_block >= kMaxGpuGrid / kernel.gpu->split ||
      GpuGrid(*kernel.gpu, items) > kMaxGpuGrid) {
    return Bad(field, "kernel ", kernel.name, " needs too many blocks for ", items, " items");
  }
  return CheckWorkspace(field, absl::StrCat("kernel ", kernel.name), kernel.gpu->scratch_bytes);
}

absl::Status GpuCommandVerifier::CheckWorkspace(const std::string& field, absl::string_view what,
                                                uint64_t bytes) const {
  if (bytes <= program().gpu->workspace_bytes) return absl::OkStatus();
  return Bad(field, what, " needs more memory than the program's workspace");
}

absl::Status GpuCommandVerifier::CheckSegment(const std::string& field, uint64_t segment,
                                              format::SegmentKind kind) const {
  TD_RETURN_IF_ERROR(CheckIndex(field, segment, index().segments.size(), "segment"));
  if (index().segments[segment].kind == kind) return absl::OkStatus();
  return Bad(field, "segment ", segment, " is of kind ", format::Name(index().segments[segment].kind), ", not ",
             format::Name(kind));
}

}  // namespace tandem
