// The target for CPUs: contractions are computed by oneDNN, by the runtime's own kernels and by generated kernels.
#include "passes/target/target.h"

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
  bool has_call_algorithms() const override { return true; }
  bool packs_for_all_directions() const override { return false; }

 private:
  bool avx512_, bfloat16_products_, bfloat16_tiles_;
};

}  // namespace

std::shared_ptr<const Target> MakeCpuTarget(exec::TargetAttr target) { return std::make_shared<Cpu>(target); }

}  // namespace tandem
