#include "runtime/cpu/onednn_packing.h"

#include <cstdint>
#include <string>

#include "runtime/cpu/onednn_convolution.h"
#include "runtime/cpu/onednn_matmul.h"
#include "runtime/cpu/pack_matrix.h"

namespace tandem {
namespace onednn {
namespace {

using dnnl::memory;

// Whether the packed layout is that of PackMatrix.
bool IsPackedMatrix(const memory::desc& desc) {
  const memory::dims padded = desc.get_padded_dims();
  return desc.get_data_type() == kF32 && padded.size() == 2 && padded[0] % kPackedRows == 0 &&
         desc.get_inner_idxs() == memory::dims{0, 1} &&
         desc.get_inner_blks() == memory::dims{kPackedRows, kPackedColumns} &&
         desc.get_strides() == memory::dims{kPackedRows * kPackedColumns, padded[0] * kPackedColumns} &&
         desc.get_size() == sizeof(float) * padded[0] * padded[1];
}

class MatrixPacking final : public OneDnnPrimitive {
 public:
  explicit MatrixPacking(const fb::LibraryCallT& c) : implementation_(kPackMatrix), transposed_(c.transpose_b) {
    const memory::dims dims = PlainMatMulKernel(c).get_dims();
    rows_ = dims[0];
    columns_ = dims[1];
  }

  const std::string& implementation() const override { return implementation_; }
  uint64_t scratch_bytes() const override { return 0; }
  int64_t parts() const override { return (columns_ + kPackedColumns - 1) / kPackedColumns; }
  absl::Status RunParts(int, absl::Span<void* const> in, void* out, void*, int64_t begin, int64_t end) const override {
    PackMatrix(static_cast<const float*>(in[0]), rows_, columns_, transposed_, begin, end, static_cast<float*>(out));
    return absl::OkStatus();
  }

 private:
  const std::string implementation_;
  const bool transposed_;
  int64_t rows_, columns_;
};

}  // namespace

memory::desc PackedKernel(const fb::LibraryCallT& c, fb::Primitive primitive) {
  const bool convolution = primitive == fb::Primitive::Conv2D || primitive == fb::Primitive::Conv2DInputGrad;
  return convolution ? PackedConvolutionKernel(c, primitive) : PackedMatMulKernel(c);
}

Plan PlanPacking(const fb::LibraryCallT& c) {
  fb::LibraryCallT from = c;  // the master weights may be float32 and the packed ones bfloat16: one reorder
  from.kernel_dtype = c.plain_dtype;
  const bool matmul = c.packed_for == fb::Primitive::MatMul;
  Plan plan;
  plan.AddReorder(matmul ? PlainMatMulKernel(from) : PlainConvolutionKernel(from), Source::kInput0,
                  PackedKernel(c, c.packed_for), Source::kOutput);
  return plan;
}

bool PacksMatrix(const fb::LibraryCallT& c) {
  return c.primitive == fb::Primitive::PackWeights && c.packed_for == fb::Primitive::MatMul &&
         TypeOf(c.plain_dtype) == kF32 && TypeOf(c.kernel_dtype) == kF32 &&
         IsPackedMatrix(PackedKernel(c, c.packed_for));
}

std::unique_ptr<OneDnnPrimitive> MakeMatrixPacking(const fb::LibraryCallT& c) {
  return std::make_unique<MatrixPacking>(c);
}

}  // namespace onednn
}  // namespace tandem
