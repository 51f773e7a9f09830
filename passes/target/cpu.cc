// The target for CPUs: contractions are computed by oneDNN, by the runtime's own kernels and by generated kernels.
#include "base/status_macros.h"
#include "passes/library_algorithms/candidates.h"
#include "passes/target/target.h"
#include "runtime/library_calls/library_algorithm.h"
#include "runtime/library_calls/library_call.h"
#include "runtime/library_calls/pack_weights.h"
#include "runtime/session/kernel_library.h"

namespace tandem {
namespace {

class Cpu final : public Target {
 public:
  explicit Cpu(exec::TargetAttr target)
      : avx512_(!target || target.getVectorBits() >= 512),
        bfloat16_products_(target && target.getBfloat16Products()),
        bfloat16_tiles_(target && target.getBfloat16Tiles()) {}

  absl::string_view device_class() const override { return "cpu"; }
  int64_t buffer_alignment() const override { return 64; }  // a cache line
  bool has_lanes() const override { return true; }
  bool keeps_invariants() const override { return true; }
  bool has_costly_launches() const override { return false; }
  bool has_float32_biases() const override { return true; }
  bool generates_contractions() const override { return true; }
  bool has_avx512() const override { return avx512_; }
  bool has_bfloat16_products() const override { return bfloat16_products_; }
  bool has_bfloat16_tiles() const override { return bfloat16_tiles_; }

  bool sums_with_taps() const override { return true; }

  bool AddsResidual(const format::LibraryCall& call, const MachineModel& machine) const override {
    format::Epilogue epilogue = InfoOf(call).epilogue;
    epilogue.residual = true;
    for (bool packed : {false, true}) {
      format::LibraryCall without = call;
      SetPacked(without, packed);
      format::LibraryCall with = without;
      SetEpilogue(with, epilogue);
      if (!ChooseAlgorithm(without, machine, {}).ok() || !ChooseAlgorithm(with, machine, {}).ok() ||
          with.implementation != without.implementation) {
        return false;
      }
    }
    return true;
  }

  absl::StatusOr<std::optional<WeightsPacking>> PackingOf(const format::LibraryCall& call, const MachineModel& machine,
                                                          std::optional<format::Algorithm> forced) const override {
    TD_ASSIGN_OR_RETURN(const KernelLibrary* library, KernelLibraryOf(device_class()));
    if (CheckLibraryCall(call).ok()) {
      format::LibraryCall reader = call;
      SetPacked(reader, true);
      reader.algorithm = forced ? *forced : BestAlgorithm(call, {machine, avx512_, *library});
      if (!CheckAlgorithm(reader).ok()) return std::nullopt;
    }
    WeightsPacking packing{PackingFor(call)};
    TD_ASSIGN_OR_RETURN(packing.bytes, library->PackedWeightsBytes(packing.call));
    if (packing.bytes == 0) return std::nullopt;
    return packing;
  }

  absl::Status ChooseAlgorithm(format::LibraryCall& call, const MachineModel& machine,
                               std::optional<format::Algorithm> forced) const override {
    TD_RETURN_IF_ERROR(CheckLibraryCall(call).status());
    TD_ASSIGN_OR_RETURN(const KernelLibrary* library, KernelLibraryOf(device_class()));
    call.algorithm = forced ? *forced : BestAlgorithm(call, {machine, avx512_, *library});
    TD_RETURN_IF_ERROR(CheckAlgorithm(call));
    TD_ASSIGN_OR_RETURN(call.implementation, library->ImplementationOf(call));
    return absl::OkStatus();
  }

 private:
  bool avx512_, bfloat16_products_, bfloat16_tiles_;
};

}  // namespace

std::shared_ptr<const Target> MakeCpuTarget(exec::TargetAttr target) { return std::make_shared<Cpu>(target); }

}  // namespace tandem
