// What the kinds' checks have in common: the tables of an executable that is being loaded, and its operands.
#ifndef TANDEM_RUNTIME_COMMANDS_COMMAND_VERIFIER_H_
#define TANDEM_RUNTIME_COMMANDS_COMMAND_VERIFIER_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "runtime/executable_verifier.h"

namespace tandem {

class CommandVerifier : public ExecutableVerifier {
 public:
  CommandVerifier(const format::Index& index, const format::Program& program, const std::string& name)
      : ExecutableVerifier(index, name, &program) {}

  bool gpu() const { return program().device_class == "gpu"; }

  // Location and operands of any command: they exist, and a section of this kind may touch them.
  absl::Status CheckOperands(const std::string& field, const format::Command& table, format::SectionKind section) const;
  absl::Status CheckOperand(const std::string& field, uint32_t buffer, format::SectionKind section, bool output) const;

  // For kinds that map sections do not have.
  absl::Status NeedsGlobal(const std::string& field, format::SectionKind section) const;
  // For kinds that do not read the lanes' slots.
  absl::Status ReadsNoSlots(const std::string& field, absl::Span<const uint32_t> buffers) const;
  // The lane buffer is a slot, of `kind` where one is given.
  absl::Status CheckSlot(const std::string& field, uint32_t buffer, const format::ReduceKind* kind) const;

  // The buffers are what the kernel takes, and as large as it reaches when it is called for `count` elements.
  absl::Status CheckKernelArguments(const std::string& field, const format::Kernel& kernel,
                                    absl::Span<const uint32_t> inputs, absl::Span<const uint32_t> outputs,
                                    uint64_t count) const;
  // As many outputs as inputs, of the same types and sizes, without rows, which can be reduced so.
  absl::Status CheckReduceOperands(const std::string& field, const format::Command& table,
                                   format::ReduceKind kind) const;

 private:
  absl::Status CheckKernelArgument(const std::string& field, const format::Kernel& kernel,
                                   const format::KernelArgument& argument, uint32_t buffer, uint64_t count) const;
};

// The same for what programs for GPUs need besides.
class GpuCommandVerifier : public ExecutableVerifier {
 public:
  using ExecutableVerifier::ExecutableVerifier;

  // A launch for `count` elements or blocks fits the grid, and its scratch memory the program's workspace.
  absl::Status CheckLaunch(const std::string& field, const format::Kernel& kernel, uint64_t count) const;
  absl::Status CheckWorkspace(const std::string& field, absl::string_view what, uint64_t bytes) const;
  absl::Status CheckSegment(const std::string& field, uint64_t segment, format::SegmentKind kind) const;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COMMANDS_COMMAND_VERIFIER_H_
