// A machine with GPUs in host memory: the fakes of driver, cuBLASLt, cuDNN and NCCL, and generated kernels walked
// thread by thread. Whole jobs run on it as on a GPU, slowly.
#ifndef TANDEM_TESTS_GPU_FAKE_GPU_H_
#define TANDEM_TESTS_GPU_FAKE_GPU_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "runtime/cuda/testing/fake_cublaslt.h"
#include "runtime/cuda/testing/fake_cudnn.h"
#include "runtime/cuda/testing/fake_driver.h"
#include "runtime/cuda/testing/fake_nccl.h"
#include "runtime/cuda/testing/kernel_walk.h"
#include "runtime/executable/executable.h"

namespace tandem {

// One at a time. A program's kernels are compiled once more for it, for the CPU, from the text of the phase `memory`.
class FakeGpuMachine {
 public:
  explicit FakeGpuMachine(int gpus);

  // Where kernels are looked for: executables in <model_dir>/compiled, those that come later too.
  void AddModelDir(const std::string& model_dir) { dirs_.push_back(model_dir); }

  FakeDriver& driver() { return driver_; }
  FakeNccl& nccl() { return nccl_; }
  // What a real driver or library would have crashed or hung on; a test ends with none.
  std::vector<std::string> TakeViolations();

 private:
  absl::Status Launch(const std::string& symbol, uint32_t grid, uint32_t block, uint32_t shared_bytes, void** params);
  absl::Status LoadKernels();

  FakeDriver driver_;
  FakeCublasLt cublaslt_;
  FakeCudnn cudnn_;
  FakeNccl nccl_;
  std::vector<std::string> dirs_;
  std::set<std::string> read_;  // executables
  std::vector<std::unique_ptr<WalkedKernels>> walks_;
  std::map<std::string, WalkedKernels*> by_symbol_;
};

}  // namespace tandem

#endif  // TANDEM_TESTS_GPU_FAKE_GPU_H_
