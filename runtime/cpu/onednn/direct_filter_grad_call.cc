#include "runtime/cpu/onednn/direct_filter_grad_call.h"

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/cpu/kernels/direct_filter_grad.h"

namespace tandem {
namespace {

FilterGradShape FilterGradShapeOf(const format::Conv2D& c) {
  const std::vector<int64_t>&x = c.x_shape, &y = c.y_shape, &kernel = c.kernel_shape;
  return {x[0],
          x[1],
          x[2],
          x[3],
          y[1],
          y[2],
          y[3],
          {kernel[0], kernel[1]},
          {c.strides[0], c.strides[1]},
          {c.pad_low[0], c.pad_low[1]}};
}

class DirectFilterGradCall final : public OneDnnPrimitive {
 public:
  explicit DirectFilterGradCall(const format::Conv2D& c)
      : implementation_(kDirectFilterGradName), gradient_(FilterGradShapeOf(c)) {}

  const std::string& implementation() const override { return implementation_; }
  uint64_t scratch_bytes() const override { return 0; }
  absl::Status RunParts(int, absl::Span<void* const> in, void* out, void*, int64_t, int64_t) const override {
    gradient_.Run(static_cast<const float*>(in[0]), static_cast<const float*>(in[1]), static_cast<float*>(out));
    return absl::OkStatus();
  }

 private:
  const std::string implementation_;
  const DirectFilterGrad gradient_;
};

}  // namespace

std::unique_ptr<OneDnnPrimitive> MakeDirectFilterGrad(const format::Conv2D& c) {
  return std::make_unique<DirectFilterGradCall>(c);
}

}  // namespace tandem
