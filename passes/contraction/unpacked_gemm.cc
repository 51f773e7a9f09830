// Computes a product of few rows with a large matrix that is read without packing
// (runtime/cpu/kernels/unpacked_gemm.h).
//
// oneDNN's products of few rows are fast only with packed weights, which have to be packed anew in every step. This
// candidate pays for matrices that do not fit the second-level cache, 4 to 64 rows and, where the matrix is transposed,
// long sums.
#include "absl/strings/str_cat.h"
#include "passes/contraction/candidate.h"
#include "runtime/library_calls/matmul.h"

namespace tandem {
namespace {

Weighing WeighUnpackedGemm(const format::LibraryCall& call, const CallContext& context) {
  constexpr int64_t kMinElements = 1 << 18, kMinRows = 4, kMaxRows = 64, kMinTransposedDepth = 512;
  if (!context.avx512) return NotProfitable(kNoAvx512);
  const format::MatMul& product = *call.operation.As<format::MatMul>();
  const int64_t rows = RowsOf(product.a_shape), depth = product.a_shape.back(), columns = product.y_shape.back();
  if (depth * columns < kMinElements) {
    return NotProfitable(
        absl::StrCat(depth * columns, " weights stay in the second-level cache: less than ", kMinElements));
  }
  if (rows < kMinRows || rows > kMaxRows) {
    return NotProfitable(absl::StrCat(rows, " rows are not between ", kMinRows, " and ", kMaxRows));
  }
  if (product.transpose_b && depth < kMinTransposedDepth) {
    return NotProfitable(absl::StrCat("sums of ", depth, " are shorter than ", kMinTransposedDepth));
  }
  return Profitable();
}

}  // namespace

extern const Candidate kUnpackedGemm = {exec::Algorithm::kUnpackedGemm, Lowering::kInCall, nullptr, nullptr,
                                        WeighUnpackedGemm};

}  // namespace tandem
