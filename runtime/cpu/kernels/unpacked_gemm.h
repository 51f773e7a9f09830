// Products of some rows with a large matrix of weights that is read from its plain layout.
//
// oneDNN's products of few rows are fast only with packed weights, which have to be packed anew in every step: for a
// layer of 1024 x 1024 and 128 rows that takes a sixth of the product's time, and together with the packed copies the
// weights of three such layers and their momentum do not fit a cache of 32 MiB. These kernels go along rows of the
// matrix in blocks and fetch the next block into the second-level cache meanwhile. docs/measurements has the rates of
// variants.
#ifndef TANDEM_RUNTIME_CPU_KERNELS_UNPACKED_GEMM_H_
#define TANDEM_RUNTIME_CPU_KERNELS_UNPACKED_GEMM_H_

#include <cstdint>

namespace tandem {

// y [rows, columns] = x [rows, depth] w, all row-major.
struct UnpackedGemm {
  int64_t rows = 0, depth = 0, columns = 0;
  bool transposed = false;  // true if w is [columns, depth], false if it is [depth, columns]
  bool relu = false;        // applies relu to the result; a NaN stays a NaN
};

// Returns the number of floats of scratch memory that RunUnpackedGemm needs.
int64_t UnpackedGemmScratch(const UnpackedGemm& product);

// Computes the product. `bias` [columns] is added before relu where it is not null. A row of `y` depends, bit for bit,
// only on that row of `x`, not on the number of rows. The columns, or the depth where the matrix is transposed, must be
// a multiple of 16. Needs AVX-512.
void RunUnpackedGemm(const UnpackedGemm& product, const float* x, const float* w, const float* bias, float* y,
                     float* scratch);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_KERNELS_UNPACKED_GEMM_H_
