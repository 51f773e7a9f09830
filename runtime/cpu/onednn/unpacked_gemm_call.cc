#include "runtime/cpu/onednn/unpacked_gemm_call.h"

#include <cstdint>
#include <string>

#include "base/align.h"
#include "runtime/cpu/kernels/unpacked_gemm.h"
#include "runtime/cpu/onednn/onednn_plan.h"
#include "runtime/library_calls/matmul.h"

namespace tandem {
namespace {

UnpackedGemm UnpackedGemmOf(const format::MatMul& c) {
  return {RowsOf(c.a_shape), c.a_shape.back(), c.y_shape.back(), c.transpose_b, c.epilogue.relu()};
}

class UnpackedGemmCall final : public OneDnnPrimitive {
 public:
  explicit UnpackedGemmCall(const format::MatMul& c)
      : implementation_(kUnpackedGemmName), product_(UnpackedGemmOf(c)), bias_(c.epilogue.bias) {}

  const std::string& implementation() const override { return implementation_; }
  uint64_t scratch_bytes() const override { return AlignUp(sizeof(float) * UnpackedGemmScratch(product_), 64); }
  absl::Status RunParts(int, absl::Span<void* const> in, void* out, void* scratch, int64_t, int64_t) const override {
    RunUnpackedGemm(product_, static_cast<const float*>(in[0]), static_cast<const float*>(in[1]),
                    bias_ ? static_cast<const float*>(in[2]) : nullptr, static_cast<float*>(out),
                    static_cast<float*>(scratch));
    return absl::OkStatus();
  }

 private:
  const std::string implementation_;
  const UnpackedGemm product_;
  const bool bias_;
};

}  // namespace

std::unique_ptr<OneDnnPrimitive> MakeUnpackedGemm(const format::MatMul& c) {
  return std::make_unique<UnpackedGemmCall>(c);
}

}  // namespace tandem
