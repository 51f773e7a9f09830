// Products of some rows with a large matrix of weights that is read where it lies.
//
// oneDNN's products of few rows are fast only with packed weights, which have to be packed anew in every step: for a
// layer of 1024 x 1024 and 128 rows that takes as long as a sixth of a product, and together with the packed copies the
// weights of three such layers and their momentum leave a cache of 32 MiB. These kernels go along rows of the matrix in
// blocks and bring the next into the second-level cache meanwhile. docs/measurements has the rates of variants.
#ifndef TANDEM_RUNTIME_CPU_UNPACKED_GEMM_H_
#define TANDEM_RUNTIME_CPU_UNPACKED_GEMM_H_

#include <cstdint>

namespace tandem {

// y [rows, columns] = x [rows, depth] w, all row-major.
struct UnpackedGemm {
  int64_t rows = 0, depth = 0, columns = 0;
  bool transposed = false;  // w is [columns, depth], else [depth, columns]
  bool relu = false;        // a NaN stays one
};

// Floats that RunUnpackedGemm needs for itself.
int64_t UnpackedGemmScratch(const UnpackedGemm& product);

// `bias` [columns] is added before relu where it is not null. What a row of `y` gets, bit for bit, depends on that row
// of `x` only, not on the number of rows. Whole vectors: a multiple of 16 columns, or of
// depth where the matrix is transposed. Needs AVX-512.
void RunUnpackedGemm(const UnpackedGemm& product, const float* x, const float* w, const float* bias, float* y,
                     float* scratch);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_UNPACKED_GEMM_H_
