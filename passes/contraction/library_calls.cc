#include "passes/contraction/library_calls.h"

#include "base/status_macros.h"
#include "runtime/device_classes/device_classes.h"
#include "runtime/library_calls/library_algorithm.h"
#include "runtime/library_calls/library_call.h"
#include "runtime/library_calls/pack_weights.h"
#include "runtime/session/kernel_library.h"

namespace tandem {

format::Algorithm LibraryCalls::AlgorithmOf(const format::LibraryCall& call, std::optional<format::Algorithm> forced,
                                            const KernelLibrary& library) const {
  if (forced) return *forced;
  return Taken(WeighCall(call, {machine_, target_.has_avx512(), library})).candidate->algorithm;
}

absl::Status LibraryCalls::Choose(format::LibraryCall& call, std::optional<format::Algorithm> forced) const {
  TD_ASSIGN_OR_RETURN(const KernelLibrary* library, KernelLibraryOf(target_.device_class()));
  if (target_.has_call_algorithms()) {
    TD_RETURN_IF_ERROR(CheckLibraryCall(call).status());
    call.algorithm = AlgorithmOf(call, forced, *library);
    TD_RETURN_IF_ERROR(CheckAlgorithm(call));
  } else if (forced && *forced != format::Algorithm::kLibrary) {
    return absl::InvalidArgumentError("a GPU's libraries choose their algorithms themselves");
  }
  TD_ASSIGN_OR_RETURN(call.implementation, library->ImplementationOf(call));
  return absl::OkStatus();
}

absl::StatusOr<std::optional<WeightsPacking>> LibraryCalls::PackingOf(const format::LibraryCall& call,
                                                                      std::optional<format::Algorithm> forced) const {
  TD_ASSIGN_OR_RETURN(const KernelLibrary* library, KernelLibraryOf(target_.device_class()));
  WeightsPacking packing{PackingFor(call)};
  if (target_.has_call_algorithms() && CheckLibraryCall(call).ok()) {
    format::LibraryCall packed = call;
    SetPacked(packed, true);
    packed.algorithm = AlgorithmOf(call, forced, *library);
    if (!CheckAlgorithm(packed).ok()) return std::nullopt;
  }
  TD_ASSIGN_OR_RETURN(packing.bytes, library->PackedWeightsBytes(call));
  if (packing.bytes == 0) return std::nullopt;
  // Direction and types of the call that reads the weights are set to fixed values where packing does not depend on
  // them, so that such calls can share packed weights.
  format::Conv2D* reader = packing.call.operation.As<format::PackWeights>()->reader.As<format::Conv2D>();
  if (target_.packs_for_all_directions() && reader != nullptr) {
    reader->direction = format::Direction::kForward;
    reader->x_dtype = reader->y_dtype = reader->kernel_dtype;
  }
  return packing;
}

bool LibraryCalls::AddsResidual(const format::LibraryCall& call) const {
  if (!target_.has_call_algorithms()) return false;
  format::Epilogue epilogue = InfoOf(call).epilogue;
  epilogue.residual = true;
  for (bool packed : {false, true}) {
    format::LibraryCall without = call;
    SetPacked(without, packed);
    format::LibraryCall with = without;
    SetEpilogue(with, epilogue);
    if (!Choose(without).ok() || !Choose(with).ok() || with.implementation != without.implementation) return false;
  }
  return true;
}

}  // namespace tandem
