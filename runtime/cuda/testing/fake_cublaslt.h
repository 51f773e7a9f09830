// cuBLASLt in host memory, on the fake driver: it computes what the descriptors say and checks that they are correct.
#ifndef TANDEM_RUNTIME_CUDA_TESTING_FAKE_CUBLASLT_H_
#define TANDEM_RUNTIME_CUDA_TESTING_FAKE_CUBLASLT_H_

#include <string>
#include <vector>

#include "runtime/cuda/libraries/cublaslt_api.h"
#include "runtime/cuda/testing/fake_driver.h"

namespace tandem {

// Replaces LoadCublasLt's result while it lives, and works on the current FakeDriver. One at a time.
//
// It offers three algorithms. Where they split sums (more than 512 products), the first and third need workspace, and
// write all over it. TensorFloat-32 rounds operands as a GPU does. A violation is recorded for what a real library
// would silently compute wrongly or crash on: an unknown algorithm, workspace that is too small or not aligned to 256
// bytes, operands (or matrices at the addresses of an array) less aligned than was promised, sums that may be split in
// place. Only algorithms from the heuristic or from cublasLtMatmulAlgoCheck are accepted; the latter knows the three by
// their bytes.
class FakeCublasLt {
 public:
  FakeCublasLt();
  ~FakeCublasLt();
  FakeCublasLt(const FakeCublasLt&) = delete;
  FakeCublasLt& operator=(const FakeCublasLt&) = delete;

  const CublasLtApi& api() const { return api_; }
  // The n-th call of `name` from now on (1: the next) returns `status` and does nothing else.
  void FailCall(const std::string& name, cublasStatus_t status, int n = 1);
  // Returns the names of calls in order, without those that set attributes.
  std::vector<std::string> TakeCalls();
  // Returns the violations and forgets them. A test must end with none.
  std::vector<std::string> TakeViolations();
  // Returns the number of handles, descriptors, layouts and preferences that were not destroyed.
  int live_objects() const;
  // Makes it behave like a version before 12.9, which supports batches by strides only.
  void KnowNoPointerArrays();
  // Makes heuristics return `status` for products with an epilogue, like a GPU that lacks them, or a library that
  // considers some of their shapes invalid.
  void RefuseEpilogues(cublasStatus_t status);
  // Makes heuristics find nothing, like a GPU that cannot compute the product.
  void SupportNothing();

 private:
  CublasLtApi api_;
  ScopedCublasLt scoped_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_TESTING_FAKE_CUBLASLT_H_
