// MatMul and BatchMatMul by cuBLASLt.
#ifndef TANDEM_RUNTIME_CUDA_CUBLASLT_CALLS_H_
#define TANDEM_RUNTIME_CUDA_CUBLASLT_CALLS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/cuda/cublaslt_api.h"
#include "runtime/cuda/library_kernels.h"
#include "runtime/cuda/tunable_call.h"
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
  int64_t batch = 1;     // products in one launch
  int64_t launches = 1;  // of which there is more than one where no single stride leads from matrix to matrix
};

// For a MatMul or BatchMatMul that CheckLibraryCall accepts.
CublasLtProduct DescribeProduct(const fb::LibraryCallT& call);

// A handle on the device whose context is current.
class CublasLtDevice {
 public:
  static absl::StatusOr<std::unique_ptr<CublasLtDevice>> Create(const CublasLtApi* api);
  ~CublasLtDevice();
  CublasLtDevice(const CublasLtDevice&) = delete;
  CublasLtDevice& operator=(const CublasLtDevice&) = delete;

  // At most `candidates` algorithms. Sums are in float32 whatever the operands are; float32 operands are rounded to
  // TensorFloat-32 only where the call says so. Split sums are kept in float32 in the workspace and added up in a step
  // of their own, in one order: neither atomics nor sums in place. `kernels` and the device must outlive the result.
  absl::StatusOr<std::unique_ptr<TunableCall>> Prepare(const fb::LibraryCallT& call, const LibraryKernels* kernels,
                                                       int candidates);

 private:
  CublasLtDevice(const CublasLtApi* api, cublasLtHandle_t handle) : api_(api), handle_(handle) {}

  const CublasLtApi* api_;
  cublasLtHandle_t handle_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_CUBLASLT_CALLS_H_
