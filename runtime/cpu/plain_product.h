// Products of some rows with a large matrix of weights that is read where it lies.
//
// oneDNN's products of few rows are fast only with packed weights, which have to be packed anew in every step: for a
// layer of 1024 x 1024 and 128 rows that takes as long as a sixth of a product, and together with the packed copies the
// weights of three such layers and their momentum leave a cache of 32 MiB. These kernels go along rows of the matrix in
// blocks and bring the next into the second-level cache meanwhile. docs/measurements has the rates of variants.
#ifndef TANDEM_RUNTIME_CPU_PLAIN_PRODUCT_H_
#define TANDEM_RUNTIME_CPU_PLAIN_PRODUCT_H_

#include <cstdint>

namespace tandem {

// y [rows, columns] = x [rows, depth] w, all row-major.
struct PlainProduct {
  int64_t rows = 0, depth = 0, columns = 0;
  bool transposed = false;  // w is [columns, depth], else [depth, columns]
  bool relu = false;        // a NaN stays one
};

// Whether RunPlainProduct takes the product and is faster than oneDNN with the packing of its weights: matrices that
// leave the second-level cache, a shard of 4 to 64 rows, whole vectors, long sums where the matrix is transposed, and
// AVX-512, whose registers the tiles fill.
bool PlainProductPays(const PlainProduct& product);

// Floats that RunPlainProduct needs for itself.
int64_t PlainProductScratch(const PlainProduct& product);

// `bias` [columns] is added before relu where it is not null. What a row of `y` gets, bit for bit, depends on that row
// of `x` only, not on the number of rows. Only for products that pay; a test may try smaller ones.
void RunPlainProduct(const PlainProduct& product, const float* x, const float* w, const float* bias, float* y,
                     float* scratch);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_PLAIN_PRODUCT_H_
