#include <algorithm>
#include <cstdint>

#include "base/align.h"
#include "runtime/commands/block_kernel.h"
#include "runtime/commands/executable_verifier.h"

namespace tandem {
namespace {

class ExecutionVerifier : public ExecutableVerifier {
 public:
  ExecutionVerifier(const format::Index& index, const format::Program& program, const std::string& name)
      : ExecutableVerifier(index, name, &program) {}

  absl::Status Run(const std::string& field) const {
    for (size_t i = 0; i < program_->sections.size(); ++i) {
      const format::Section& section = program_->sections[i];
      const std::string at = absl::StrCat(field, ".sections[", i, "]");
      for (size_t j = 0; j < section.commands.size(); ++j) {
        const format::Command& command = section.commands[j];
        const std::string here = absl::StrCat(at, ".commands[", j, "]");
        if (command.together == 0 || command.together > section.commands.size() - j) {
          return Bad(here, "runs together with ", static_cast<int64_t>(command.together) - 1,
                     " commands behind it, of which ", section.commands.size() - j - 1, " are there");
        }
        if (section.kind == format::SectionKind::kMap && (command.together > 1 || command.invariant)) {
          return Bad(here, "a command of a map runs by itself and for every microbatch");
        }
        if (command.overlap > 0 && command.body.As<format::AllReduce>() == nullptr) {
          return Bad(here, "nothing but an all-reduce overlaps with the commands behind it");
        }
        if (command.overlap >= section.commands.size() - j) {
          return Bad(here, "overlaps with ", command.overlap, " commands behind it, of which ",
                     section.commands.size() - j - 1, " are there");
        }
        if (command.joint) TD_RETURN_IF_ERROR(CheckJoint(here, command, section));
      }
      TD_RETURN_IF_ERROR(CheckLanesTogether(at, section));
      for (size_t j = 0; j < section.block_updates.size(); ++j) {
        TD_RETURN_IF_ERROR(
            CheckBlockUpdate(absl::StrCat(at, ".block_updates[", j, "]"), section, section.block_updates[j]));
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status CheckJoint(const std::string& field, const format::Command& command,
                          const format::Section& section) const {
    const auto* call = command.body.As<format::LibraryCall>();
    if (call == nullptr || call->operation.As<format::MatMul>() == nullptr || section.lanes_together < 2 ||
        command.outputs.size() != 1 || Buffer(command.outputs[0]).row_bytes == 0 ||
        Buffer(command.inputs[0]).row_bytes == 0) {
      return Bad(field, "only a MatMul over rows of lanes that run together can be joint");
    }
    for (uint32_t b : command.inputs) {
      const format::Space space = Buffer(b).space;
      if (Buffer(b).row_bytes == 0 && (space == format::Space::kMicrobatch || space == format::Space::kLane)) {
        return Bad(field, "buffer ", b, " is one lane's, and the call is for several");
      }
    }
    return absl::OkStatus();
  }

  // Checks that the microbatch arena has room for each buffer of `lanes_together` lanes, one lane after another.
  absl::Status CheckLanesTogether(const std::string& field, const format::Section& section) const {
    if (section.lanes_together == 1) return absl::OkStatus();
    const uint32_t lanes = x_.lanes / std::max<uint32_t>(1, static_cast<uint32_t>(x_.replicas.size()));
    if (section.kind != format::SectionKind::kMap || section.lanes_together == 0 ||
        lanes % section.lanes_together != 0 || x_.microbatch_rows != x_.rows_per_lane) {
      return Bad(field, section.lanes_together, " lanes cannot run together: a device has ", lanes, ", of ",
                 x_.rows_per_lane, " rows in microbatches of ", x_.microbatch_rows);
    }
    for (const auto& command : section.commands) {
      for (const auto* buffers : {&command.inputs, &command.outputs}) {
        for (uint32_t i : *buffers) {
          const format::Buffer& b = Buffer(i);
          if (b.space != format::Space::kMicrobatch) continue;
          const uint64_t row = SizeOf(b.dtype) * static_cast<uint64_t>(Elements(i));
          const uint64_t bytes = b.row_bytes > 0 ? x_.microbatch_rows * b.row_bytes : row;
          if (b.bytes > AlignUp(bytes, 64)) return Bad(field, "buffer ", i, " of lanes that run together is too large");
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckBlockUpdate(const std::string& field, const format::Section& section,
                                const format::BlockUpdate& u) const {
    if (x_.replicas.size() > 1) return Bad(field, "gradients of several devices are summed up first");
    for (uint32_t command : {u.gradient, u.check, u.update}) {
      TD_RETURN_IF_ERROR(CheckIndex(field, command, section.commands.size(), "command"));
    }
    const format::Command &gradient = section.commands[u.gradient], &check = section.commands[u.check];
    const auto* launch = gradient.body.As<format::KernelLaunch>();
    if (launch == nullptr || x_.kernels[launch->kernel].domain != format::Domain::kBlocks ||
        gradient.inputs.size() < 2) {
      return Bad(field, "command ", u.gradient, " is no kernel over blocks");
    }
    for (uint32_t factor : {gradient.inputs[0], gradient.inputs[1]}) {
      const DType dtype = Buffer(factor).dtype;
      if (dtype != DType::kFloat32 && dtype != DType::kBFloat16) {
        return Bad(field, "buffer ", factor, " is no factor of a gradient: it is neither float32 nor bfloat16");
      }
    }
    if (check.body.As<format::CheckFinite>() == nullptr || u.checked >= check.inputs.size() ||
        check.inputs[u.checked] != gradient.outputs[0]) {
      return Bad(field, "command ", u.check, " does not check the gradient");
    }
    const auto* group = section.commands[u.update].body.As<format::GroupedLaunch>();
    if (group == nullptr || u.member >= group->counts.size() || u.argument >= group->num_args ||
        group->args[u.member * group->num_args + u.argument] != gradient.outputs[0] ||
        group->counts[u.member] != static_cast<uint64_t>(Elements(gradient.outputs[0]))) {
      return Bad(field, "command ", u.update, " does not apply the gradient");
    }
    if (u.gradient >= u.check || u.check >= u.update) return Bad(field, "the commands are not in order");
    for (uint32_t argument : u.fetched) {
      TD_RETURN_IF_ERROR(CheckIndex(field + ".fetched", argument, group->num_args, "argument"));
      const uint32_t buffer = group->args[u.member * group->num_args + argument];
      if (Buffer(buffer).dtype != DType::kFloat32 || Elements(buffer) != Elements(gradient.outputs[0])) {
        return Bad(field, "argument ", argument, " is no matrix of the gradient's size");
      }
    }
    return u.fetched.size() <= kFetchedMatrices ? absl::OkStatus() : Bad(field, "too many matrices are fetched");
  }
};

}  // namespace

absl::Status VerifyExecution(const format::Index& index, const format::Program& program, const std::string& name,
                             const std::string& field) {
  return ExecutionVerifier(index, program, name).Run(field);
}

}  // namespace tandem
