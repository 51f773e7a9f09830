// Small kernels that library calls and collectives need around them: changes of layout and type, and sums in the order
// of the reduction tree. PTX text for compute capability 7.5 and later, without atomics.
#ifndef TANDEM_RUNTIME_CUDA_KERNELS_LIBRARY_KERNELS_H_
#define TANDEM_RUNTIME_CUDA_KERNELS_LIBRARY_KERNELS_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/cuda/driver/access_watch.h"
#include "runtime/cuda/driver/cuda_types.h"
#include "runtime/cuda/driver/driver_api.h"
#include "runtime/format/index.h"

namespace tandem {

// Returns the module's text. Entries, all with 64-bit parameters and blocks of kLibraryKernelBlock threads:
//   td_transpose_{f32_f32,f32_bf16,bf16_bf16,bf16_f32}(in, out, rows, columns)   a block per tile of 32 x 32
//   td_convert_{f32_bf16,bf16_f32}(in, out, n)                                   a thread per element
//   td_{add,max}_{f32,f64,s32,s64}(a, b, n)                                      a = a op b; max keeps NaN
//   td_divide_{f32,f64}(a, divisor, n)                                           a = a / divisor, an integer
//   td_add_bias_{f32,bf16}(y, bias, columns, n)                                  y += bias, in float32, by columns
//   td_{relu,gelu}_{f32,bf16}(y, n)                                              in place; GELU in its tanh form
//   td_gelu_grad_{f32,bf16}(y, x, n)                                             y *= the slope of GELU at x
//   td_relu_mask_{f32,bf16}(y, mask, columns, stride, n)    relu and its bits: a thread per byte, rows of stride bytes
//   td_relu_grad_{f32,bf16}(y, mask, columns, stride, n)                         y where its bit is set, else 0
//   td_column_sums_f32(in, out, rows, n)                                         a thread per column
//   td_matrix_addresses(out, base_0, inner_0, outer_0, ... base_2, inner_2, outer_2, inner, n)
//                                                   out[k][i] = base_k + i % inner * inner_k + i / inner * outer_k
const std::string& LibraryKernelsPtx();
inline constexpr unsigned kLibraryKernelBlock = 256;
inline constexpr int64_t kTransposeTile = 32;

// Returns the bytes of the addresses of `matrices` matrices of each of three operands.
constexpr uint64_t MatrixAddressesBytes(int64_t matrices) { return 3 * 8 * static_cast<uint64_t>(matrices); }

// The kernels of one device. Every call enqueues one launch, or none if there are no elements; legal during capture.
class LibraryKernels {
 public:
  // Loads the kernels into the current context. `driver` must outlive the result.
  static absl::StatusOr<std::unique_ptr<LibraryKernels>> Create(const DriverApi* driver);
  ~LibraryKernels();
  LibraryKernels(const LibraryKernels&) = delete;
  LibraryKernels& operator=(const LibraryKernels&) = delete;

  // Sets out [columns, rows] to the transpose of in [rows, columns]. Float32 and BFloat16, rounded to nearest even.
  absl::Status Transpose(CUdeviceptr in, DType in_type, CUdeviceptr out, DType out_type, int64_t rows, int64_t columns,
                         CUstream stream) const;
  // Converts between Float32 and BFloat16; copies if both types are the same.
  absl::Status Convert(CUdeviceptr in, DType in_type, CUdeviceptr out, DType out_type, int64_t n,
                       CUstream stream) const;
  // Sets `bytes` bytes to 0.
  absl::Status Zero(CUdeviceptr out, uint64_t bytes, CUstream stream) const;
  // Sets a = a op b for Sum and Max; float32, float64, int32, int64.
  absl::Status Combine(format::ReduceKind kind, DType type, CUdeviceptr a, CUdeviceptr b, int64_t n,
                       CUstream stream) const;
  // The addresses of an operand's inner x outer matrices: matrix (i, j), i < inner and j < outer, is at base + i *
  // inner_stride + j * outer_stride, in bytes.
  struct MatrixGrid {
    CUdeviceptr base = 0;
    uint64_t inner_stride = 0, outer_stride = 0;
  };
  // Writes the addresses of the matrices of three operands to `out`, MatrixAddressesBytes(inner * outer) bytes.
  absl::Status MatrixAddresses(CUdeviceptr out, const std::array<MatrixGrid, 3>& operands, int64_t inner, int64_t outer,
                               CUstream stream) const;
  // The parts of a product's epilogue, in place on y [rows, columns]; Float32 and BFloat16. The bias is float32; the
  // mask has the layout of ReluMaskShape.
  struct Matrix {
    CUdeviceptr data = 0;
    DType type = DType::kFloat32;
    int64_t rows = 0, columns = 0;
  };
  absl::Status AddBias(const Matrix& y, CUdeviceptr bias, CUstream stream) const;
  absl::Status Relu(const Matrix& y, CUstream stream) const;
  absl::Status ReluWithMask(const Matrix& y, CUdeviceptr mask, int64_t mask_row_bytes, CUstream stream) const;
  absl::Status ReluGradient(const Matrix& y, CUdeviceptr mask, int64_t mask_row_bytes, CUstream stream) const;
  absl::Status Gelu(const Matrix& y, CUstream stream) const;
  // `x`: the values that GELU was applied to, of y's type and size.
  absl::Status GeluGradient(const Matrix& y, CUdeviceptr x, CUstream stream) const;
  // Sets out [columns] to sums over the rows of a float32 matrix, in their order.
  absl::Status ColumnSums(const Matrix& in, CUdeviceptr out, CUstream stream) const;
  // Sets a = a / divisor; float32, float64.
  absl::Status Divide(DType type, CUdeviceptr a, int64_t divisor, int64_t n, CUstream stream) const;

 private:
  LibraryKernels(const DriverApi* driver, CUmodule module) : driver_(driver), module_(module) {}
  // `accesses`: the memory that the parameters point to.
  absl::Status Launch(const std::string& name, int64_t blocks, std::initializer_list<uint64_t> parameters,
                      std::initializer_list<DeviceAccess> accesses, CUstream stream) const;

  const DriverApi* driver_;
  CUmodule module_;
  std::map<std::string, CUfunction> functions_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_KERNELS_LIBRARY_KERNELS_H_
