// Descriptions of the operands of a MatMul or BatchMatMul for cuBLASLt.
#ifndef TANDEM_RUNTIME_LIBRARY_CALLS_CUBLASLT_PRODUCT_H_
#define TANDEM_RUNTIME_LIBRARY_CALLS_CUBLASLT_PRODUCT_H_

#include <cstdint>
#include <string>

#include "runtime/format/index.h"

namespace tandem {

// A row-major operand as cuBLASLt describes it, whose matrices are column-major. Its matrix is the transpose of the
// stored one, so `rows` is the dimension that is contiguous in memory. All counts are in elements.
struct CublasLtMatrix {
  DType type = DType::kFloat32;
  int64_t rows = 0, columns = 0, leading_dimension = 0;
  bool transpose = false;
  int64_t batch_stride = 0;   // distance from one product of a launch to the next
  int64_t launch_stride = 0;  // distance from one launch to the next
};

// y = a * b row by row is y^T = b^T * a^T column by column: `first` is b and `second` is a.
struct CublasLtProduct {
  CublasLtMatrix first, second, result;
  format::Epilogue epilogue;
  std::string text;      // text of the call
  int64_t batch = 1;     // products in one launch by strides
  int64_t launches = 1;  // number of launches; more than one if no single stride reaches all matrices
};

// From this many launches by strides on, arrays of addresses are used. Two launches by strides are as fast as one that
// writes the matrices' addresses and one that multiplies.
inline constexpr int64_t kAddressesFromLaunches = 3;

// Describe products that CheckOperation accepts, with as few launches as strides allow.
CublasLtProduct DescribeProduct(const format::MatMul& call);
CublasLtProduct DescribeProduct(const format::BatchMatMul& call);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_LIBRARY_CALLS_CUBLASLT_PRODUCT_H_
