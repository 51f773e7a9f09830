// How the library calls of a program are computed: by which algorithm, with which weights and residuals.
#ifndef TANDEM_PASSES_CONTRACTION_LIBRARY_CALLS_H_
#define TANDEM_PASSES_CONTRACTION_LIBRARY_CALLS_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "passes/contraction/candidate.h"

namespace tandem {

// The PackWeights call for an operand of another call, and the bytes of its result.
struct WeightsPacking {
  format::LibraryCall call;
  uint64_t bytes = 0;
};

class LibraryCalls {
 public:
  LibraryCalls(const Target& target, const MachineModel& machine) : target_(target), machine_(machine) {}

  // Chooses `call.algorithm`, or takes the `forced` one, and names it in `call.implementation`.
  absl::Status Choose(format::LibraryCall& call, std::optional<format::Algorithm> forced = std::nullopt) const;
  // Returns how the weights of the call are packed, once for many calls; nothing if the call reads them unpacked.
  // `forced`: the algorithm that the user wants for the call, if any.
  absl::StatusOr<std::optional<WeightsPacking>> PackingOf(const format::LibraryCall& call,
                                                          std::optional<format::Algorithm> forced) const;
  // True if the library computes the call in the same way when it also adds a residual to its result.
  bool AddsResidual(const format::LibraryCall& call) const;

 private:
  format::Algorithm AlgorithmOf(const format::LibraryCall& call, std::optional<format::Algorithm> forced,
                                const KernelLibrary& library) const;

  const Target& target_;
  const MachineModel& machine_;
};

// Replaces an op by a library call.
mlir::LogicalResult LowerToCall(const Contraction& contraction, exec::ContractionAttr choice);

}  // namespace tandem

#endif  // TANDEM_PASSES_CONTRACTION_LIBRARY_CALLS_H_
