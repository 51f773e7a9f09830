// The target for NVIDIA GPUs: cuBLASLt and cuDNN compute contractions, generated kernels everything else.
#include "base/status_macros.h"
#include "passes/target/target.h"
#include "runtime/library_calls/pack_weights.h"
#include "runtime/session/kernel_library.h"

namespace tandem {
namespace {

class Cuda final : public Target {
 public:
  absl::string_view device_class() const override { return "gpu"; }
  int64_t buffer_alignment() const override { return 256; }  // the alignment that cuBLASLt and cuDNN want
  bool has_lanes() const override { return false; }
  bool keeps_invariants() const override { return false; }
  bool generates_contractions() const override { return false; }
  bool has_bfloat16_batched_products() const override { return true; }
  bool has_small_head_attention() const override { return true; }
  bool has_tf32() const override { return true; }
  bool has_costly_launches() const override { return true; }
  bool has_float32_biases() const override { return false; }
  bool has_gradient_epilogues() const override { return true; }

  // False, except for the convolutions that few_taps.cc takes, whose sums fit registers.
  bool sums_with_taps() const override { return false; }

  // Each element takes three operations on doubles and its conversion.
  bool SumsDoublesAtOnce(const MachineModel& machine) const override {
    return machine.vector_f64 / 4 >= machine.dram_bandwidth / 2;
  }

  bool AddsResidual(const format::LibraryCall&, const MachineModel&) const override { return false; }

  // Direction and types of the reading call are normalized: they do not matter for packing, and would keep calls from
  // sharing a packed kernel.
  absl::StatusOr<std::optional<WeightsPacking>> PackingOf(const format::LibraryCall& call, const MachineModel&,
                                                          std::optional<format::Algorithm>) const override {
    TD_ASSIGN_OR_RETURN(const KernelLibrary* library, KernelLibraryOf(device_class()));
    WeightsPacking packing{PackingFor(call)};
    TD_ASSIGN_OR_RETURN(packing.bytes, library->PackedWeightsBytes(call));
    if (packing.bytes == 0) return std::nullopt;
    if (format::Conv2D* reader = packing.call.operation.As<format::PackWeights>()->reader.As<format::Conv2D>()) {
      reader->direction = format::Direction::kForward;
      reader->x_dtype = reader->y_dtype = reader->kernel_dtype;
    }
    return packing;
  }

  absl::Status ChooseAlgorithm(format::LibraryCall& call, const MachineModel&,
                               std::optional<format::Algorithm> forced) const override {
    if (forced && *forced != format::Algorithm::kLibrary) {
      return absl::InvalidArgumentError("a GPU's libraries choose their algorithms themselves");
    }
    TD_ASSIGN_OR_RETURN(const KernelLibrary* library, KernelLibraryOf(device_class()));
    TD_ASSIGN_OR_RETURN(call.implementation, library->ImplementationOf(call));
    return absl::OkStatus();
  }
};

}  // namespace

std::shared_ptr<const Target> MakeCudaTarget() { return std::make_shared<Cuda>(); }

}  // namespace tandem
