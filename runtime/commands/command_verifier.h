// CommandVerifier: checks of operands that all kinds of commands share, for an executable that is being loaded.
#ifndef TANDEM_RUNTIME_COMMANDS_COMMAND_VERIFIER_H_
#define TANDEM_RUNTIME_COMMANDS_COMMAND_VERIFIER_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "runtime/commands/executable_verifier.h"

namespace tandem {

class CommandVerifier : public ExecutableVerifier {
 public:
  CommandVerifier(const format::Index& index, const format::Program& program, const std::string& name)
      : ExecutableVerifier(index, name, &program) {}

  bool gpu() const { return program().device_class == "gpu"; }

  // Checks that location and operands of any command exist, and that a section of this kind may access them.
  absl::Status CheckOperands(const std::string& field, const format::Command& table, format::SectionKind section) const;
  absl::Status CheckOperand(const std::string& field, uint32_t buffer, format::SectionKind section, bool output) const;

  // For kinds of commands that map sections must not contain: returns an error unless the section is global.
  absl::Status NeedsGlobal(const std::string& field, format::SectionKind section) const;
  // For kinds of commands that must not read lane slots (memory of a lane's sums): an error if a buffer is a slot.
  absl::Status ReadsNoSlots(const std::string& field, absl::Span<const uint32_t> buffers) const;
  // Checks that the buffer is a lane slot, and that its values are combined by `*kind` unless `kind` is null.
  absl::Status CheckSlot(const std::string& field, uint32_t buffer, const format::ReduceKind* kind) const;

  // Checks that the buffers have the types that the kernel expects, and contain everything that it accesses when it is
  // called for `count` elements.
  absl::Status CheckKernelArguments(const std::string& field, const format::Kernel& kernel,
                                    absl::Span<const uint32_t> inputs, absl::Span<const uint32_t> outputs,
                                    uint64_t count) const;
  // Checks that there are as many outputs as inputs, of the same types and sizes, without rows, and that such values
  // can be reduced by `kind`.
  absl::Status CheckReduceOperands(const std::string& field, const format::Command& table,
                                   format::ReduceKind kind) const;

 private:
  absl::Status CheckKernelArgument(const std::string& field, const format::Kernel& kernel,
                                   const format::KernelArgument& argument, uint32_t buffer, uint64_t count) const;
};

// Checks that several kinds of commands share, and that only programs for GPUs need.
class GpuCommandVerifier : public ExecutableVerifier {
 public:
  using ExecutableVerifier::ExecutableVerifier;

  // CheckLaunch checks that a launch for `count` elements or blocks fits into a grid, and that its scratch memory fits
  // into the program's workspace.
  absl::Status CheckLaunch(const std::string& field, const format::Kernel& kernel, uint64_t count) const;
  absl::Status CheckWorkspace(const std::string& field, absl::string_view what, uint64_t bytes) const;
  absl::Status CheckSegment(const std::string& field, uint64_t segment, format::SegmentKind kind) const;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COMMANDS_COMMAND_VERIFIER_H_
