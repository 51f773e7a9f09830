// The target for NVIDIA GPUs: cuBLASLt and cuDNN compute contractions, generated kernels everything else.
#include "passes/target/target.h"

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

  // No kernels sum over the taps of a window, except for the convolutions that few_taps.cc takes, whose sums fit
  // registers.
  bool sums_with_taps() const override { return false; }

  // For each element, converting it and three operations on doubles must take no longer than reading its two bytes.
  bool SumsDoublesAtOnce(const MachineModel& machine) const override {
    return machine.vector_f64 / 4 >= machine.dram_bandwidth / 2;
  }

  bool has_call_algorithms() const override { return false; }
  bool packs_for_all_directions() const override { return true; }
};

}  // namespace

std::shared_ptr<const Target> MakeCudaTarget() { return std::make_shared<Cuda>(); }

}  // namespace tandem
