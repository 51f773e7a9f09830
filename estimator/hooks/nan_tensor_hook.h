// NanTensorHook: ends training when a step is not finite.
#ifndef TANDEM_ESTIMATOR_HOOKS_NAN_TENSOR_HOOK_H_
#define TANDEM_ESTIMATOR_HOOKS_NAN_TENSOR_HOOK_H_

#include <string>

#include "estimator/session_run_hook.h"

namespace tandem {

// The compiled step itself checks the loss and what enters updates (gradients, statistics) and changes nothing when one
// of them has a NaN or infinity; numbers that are only watched are recorded as they are (WatchedValues). This
// hook then names the op at fault: an error that carries exit code 1 with fail_on_nan, a request to stop without.
class NanTensorHook : public SessionRunHook {
 public:
  explicit NanTensorHook(bool fail_on_nan = true) : fail_on_nan_(fail_on_nan) {}

  std::string name() const override { return "NanTensorHook"; }
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;

 private:
  bool fail_on_nan_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_HOOKS_NAN_TENSOR_HOOK_H_
