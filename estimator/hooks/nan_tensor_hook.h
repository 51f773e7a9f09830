// NanTensorHook: ends training when a step is not finite.
#ifndef TANDEM_ESTIMATOR_HOOKS_NAN_TENSOR_HOOK_H_
#define TANDEM_ESTIMATOR_HOOKS_NAN_TENSOR_HOOK_H_

#include <string>

#include "estimator/loop/session_run_hook.h"

namespace tandem {

// The compiled step itself checks the loss and what enters updates (gradients, statistics), and changes nothing if one
// of them has a NaN or infinity. Numbers that are only watched are not checked (see WatchedValues). After such a step
// this hook finds the op at fault and, with fail_on_nan, returns an error with exit code 1; without, it logs a warning
// and requests a stop.
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
