#include "runtime/cpu/plain_product_call.h"

#include <cstdint>
#include <string>

#include "base/align.h"
#include "runtime/cpu/onednn_plan.h"
#include "runtime/cpu/plain_product.h"

namespace tandem {
namespace {

PlainProduct PlainProductOf(const fb::LibraryCallT& c) {
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < c.x_shape.size(); ++i) rows *= c.x_shape[i];
  const bool relu = c.epilogue == fb::Epilogue::Relu || c.epilogue == fb::Epilogue::BiasRelu;
  return {rows, c.x_shape.back(), c.y_shape.back(), c.transpose_b, relu};
}

class ProductWithPlainMatrix final : public OneDnnPrimitive {
 public:
  explicit ProductWithPlainMatrix(const fb::LibraryCallT& c)
      : implementation_(kPlainProduct), product_(PlainProductOf(c)), bias_(onednn::HasBias(c)) {}

  const std::string& implementation() const override { return implementation_; }
  uint64_t scratch_bytes() const override { return AlignUp(sizeof(float) * PlainProductScratch(product_), 64); }
  absl::Status RunParts(int, absl::Span<void* const> in, void* out, void* scratch, int64_t, int64_t) const override {
    RunPlainProduct(product_, static_cast<const float*>(in[0]), static_cast<const float*>(in[1]),
                    bias_ ? static_cast<const float*>(in[2]) : nullptr, static_cast<float*>(out),
                    static_cast<float*>(scratch));
    return absl::OkStatus();
  }

 private:
  const std::string implementation_;
  const PlainProduct product_;
  const bool bias_;
};

}  // namespace

bool IsPlainProduct(const fb::LibraryCallT& c) {
  for (fb::DType type : {c.x_dtype, c.kernel_dtype, c.y_dtype}) {
    if (type == fb::DType::BFloat16) return false;
  }
  return c.primitive == fb::Primitive::MatMul && !c.packed && !c.adds && !c.transpose_a && c.kernel_shape.size() == 2 &&
         PlainProductPays(PlainProductOf(c));
}

std::unique_ptr<OneDnnPrimitive> MakePlainProduct(const fb::LibraryCallT& c) {
  return std::make_unique<ProductWithPlainMatrix>(c);
}

}  // namespace tandem
