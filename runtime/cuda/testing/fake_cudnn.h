// cuDNN in host memory, on the fake driver: plans are loops over the convolution's products.
#ifndef TANDEM_RUNTIME_CUDA_TESTING_FAKE_CUDNN_H_
#define TANDEM_RUNTIME_CUDA_TESTING_FAKE_CUDNN_H_

#include <memory>
#include <string>
#include <vector>

#include "runtime/cuda/libraries/cudnn_api.h"
#include "runtime/cuda/testing/fake_driver.h"

namespace tandem {

// Replaces LoadCudnn's result while it lives, and works on the current FakeDriver. One at a time.
//
// It offers three plans, "fake_eng0" to "fake_eng2"; they need workspace and write all over it. A serialised plan loads
// for the same call on the same architecture only.
class FakeCudnn : public CudnnApi {
 public:
  explicit FakeCudnn(int sm = 90);
  ~FakeCudnn() override;

  absl::StatusOr<std::unique_ptr<CudnnDevice>> OpenDevice() const override;
  absl::StatusOr<CudnnPlan> Compile(const format::LibraryCall& call, int sm) const override;
  std::string version() const override { return "cuDNN 9.0.0 (fake)"; }

  // Makes the next of these fail: "OpenDevice", "Load", "Build", "Compile", "Enqueue".
  void FailNext(const std::string& what, absl::Status status);
  // From now on there are no plans with an epilogue; with false there are again.
  void RefuseEpilogues(bool refuse = true);
  // Returns the calls in order: "Load", "Build 1", "Enqueue fake_eng0", ...
  std::vector<std::string> TakeCalls();
  // Returns the number of devices and plans that live.
  int live_objects() const;

  struct State;

 private:
  std::shared_ptr<State> state_;
  ScopedCudnn scoped_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_TESTING_FAKE_CUDNN_H_
