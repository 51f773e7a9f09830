// How cuBLASLt sees the operands of a MatMul or BatchMatMul.
#ifndef TANDEM_RUNTIME_CUDA_CUBLASLT_PRODUCT_H_
#define TANDEM_RUNTIME_CUDA_CUBLASLT_PRODUCT_H_

#include <cstdint>

#include "runtime/executable_generated.h"

namespace tandem {

// A row-major operand as cuBLASLt sees it, whose matrices are column-major: the stored matrix, transposed, `rows` being
// the fast dimension. All counts are in elements.
struct CublasLtMatrix {
  int64_t rows = 0, columns = 0, leading_dimension = 0;
  bool transpose = false;
  int64_t batch_stride = 0;   // from one product of a launch to the next
  int64_t launch_stride = 0;  // from one launch to the next
};

// y = a * b row by row is y^T = b^T * a^T column by column: `first` is the kernel and `second` is x.
struct CublasLtProduct {
  CublasLtMatrix first, second, result;
  int64_t batch = 1;     // products in one launch by strides
  int64_t launches = 1;  // of which there is more than one where no single stride leads from matrix to matrix
};

// For a MatMul or BatchMatMul that CheckLibraryCall accepts. As few launches as strides allow.
CublasLtProduct DescribeProduct(const fb::LibraryCallT& call);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_CUBLASLT_PRODUCT_H_
