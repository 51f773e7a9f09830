// Prepares calls of the library operations MatMul and BatchMatMul by cuBLASLt.
#ifndef TANDEM_RUNTIME_CUDA_LIBRARIES_CUBLASLT_CALLS_H_
#define TANDEM_RUNTIME_CUDA_LIBRARIES_CUBLASLT_CALLS_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/cuda/kernels/library_kernels.h"
#include "runtime/cuda/libraries/cublaslt_api.h"
#include "runtime/cuda/libraries/tunable_call.h"
#include "runtime/format/index.h"
#include "runtime/library_calls/cublaslt_product.h"

namespace tandem {

// Owns cuBLASLt's handle for the device whose context is current when it is created.
class CublasLtDevice {
 public:
  static absl::StatusOr<std::unique_ptr<CublasLtDevice>> Create(const CublasLtApi* api);
  ~CublasLtDevice();
  CublasLtDevice(const CublasLtDevice&) = delete;
  CublasLtDevice& operator=(const CublasLtDevice&) = delete;

  // Prepares a product with at most `candidates` algorithms. A BatchMatMul whose matrices no single stride reaches has
  // as many again: if the library supports arrays of addresses (from 12.9 on), a kernel writes the matrices' addresses
  // to the workspace and one product computes everything; otherwise, or if that measures faster, there is one product
  // by strides for each example or head, whichever are fewer. Sums are in float32 whatever the operands are; float32
  // operands are rounded to TensorFloat-32 only with `tf32`. Split sums are kept in float32 in the workspace and added
  // in a step of their own, in one order: neither atomics nor sums in place. An epilogue that the library rejects, with
  // whatever status, is computed after the product by Tandem's own kernels, and the log says so; with bfloat16 results
  // these kernels read rounded products. `kernels` and the device must outlive the result.
  absl::StatusOr<std::unique_ptr<TunableCall>> Prepare(CublasLtProduct product, bool tf32,
                                                       const LibraryKernels* kernels, int candidates);
  // Prepares only the candidate of that name, even if the heuristic does not offer it now. Errors: NotFound if the
  // library no longer accepts it for this product.
  absl::StatusOr<std::unique_ptr<TunableCall>> PrepareNamed(CublasLtProduct product, bool tf32,
                                                            const LibraryKernels* kernels, const std::string& name);

 private:
  CublasLtDevice(const CublasLtApi* api, cublasLtHandle_t handle) : api_(api), handle_(handle) {}

  const CublasLtApi* api_;
  cublasLtHandle_t handle_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_LIBRARIES_CUBLASLT_CALLS_H_
