// cuBLASLt in host memory, on the fake driver: it computes what the descriptors say and checks that they say it right.
#ifndef TANDEM_RUNTIME_CUDA_TESTING_FAKE_CUBLASLT_H_
#define TANDEM_RUNTIME_CUDA_TESTING_FAKE_CUBLASLT_H_

#include <string>
#include <vector>

#include "runtime/cuda/cublaslt_api.h"
#include "runtime/cuda/testing/fake_driver.h"

namespace tandem {

// Takes LoadCublasLt's place while it lives, on the FakeDriver that lives then. One at a time.
//
// It offers three algorithms; where they split sums (more than 512 products), the first and third need workspace, and
// write all over it. TensorFloat-32 rounds operands as a GPU does. What a real library would compute wrongly or crash
// on without a word is a violation: an algorithm of nobody, workspace that is too small or not aligned to 256 bytes,
// operands (or matrices at the addresses of an array) less aligned than was promised, sums that may be split in place.
// Nothing but the heuristic's or a checked algorithm is taken: cublasLtMatmulAlgoCheck knows the three by their bytes.
class FakeCublasLt {
 public:
  FakeCublasLt();
  ~FakeCublasLt();
  FakeCublasLt(const FakeCublasLt&) = delete;
  FakeCublasLt& operator=(const FakeCublasLt&) = delete;

  const CublasLtApi& api() const { return api_; }
  // The n-th call of `name` from now on (1: the next) returns `status` and does nothing else.
  void FailCall(const std::string& name, cublasStatus_t status, int n = 1);
  // Names of calls in order, those that set attributes left out.
  std::vector<std::string> TakeCalls();
  // Forgets them. A test ends with none.
  std::vector<std::string> TakeViolations();
  // Handles, descriptors, layouts and preferences that were not destroyed.
  int live_objects() const;
  // Behaves like a version before 12.9, which knows batches by strides only.
  void KnowNoPointerArrays();
  // Makes heuristics answer `status` to products with an epilogue: as a GPU does that lacks them, or a library that
  // takes some shape of theirs for a mistake.
  void RefuseEpilogues(cublasStatus_t status);
  // Makes heuristics find nothing: what a GPU that cannot do it says.
  void SupportNothing();

 private:
  CublasLtApi api_;
  ScopedCublasLt scoped_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_TESTING_FAKE_CUBLASLT_H_
