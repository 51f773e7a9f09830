// Implements KernelLibrary for CPUs: oneDNN, and Tandem's own kernels beside it.
#include "runtime/cpu/onednn/kernel_library.h"

#include "runtime/cpu/kernels/instruction_set.h"
#include "runtime/cpu/onednn/onednn_layout.h"

namespace tandem {
namespace {

class CpuLibrary final : public KernelLibrary {
 public:
  absl::StatusOr<std::string> ImplementationOf(const format::LibraryCall& call) const override {
    return ImplementationName(call);
  }
  absl::StatusOr<uint64_t> PackedWeightsBytes(const format::LibraryCall& call) const override {
    return tandem::PackedWeightsBytes(call);
  }
  bool PacksPanels(const format::LibraryCall& call) const override { return tandem::PacksPanels(call); }
  absl::Status UseInstructions(format::InstructionSet instructions) const override {
    return tandem::UseInstructions(instructions);
  }
  // CPUs have no plans: primitives are made when the executable is loaded.
  absl::StatusOr<std::optional<LibraryPlan>> Plan(const format::LibraryCall&, int) const override {
    return std::nullopt;
  }
  std::string PlannerVersion() const override { return ""; }
};

}  // namespace

const KernelLibrary& CpuKernelLibrary() {
  static const KernelLibrary& library = *new CpuLibrary;
  return library;
}

}  // namespace tandem
