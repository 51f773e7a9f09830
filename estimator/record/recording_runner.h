// RecordingRunner: makes the steps of another runner and passes the bits to record of each to a function.
#ifndef TANDEM_ESTIMATOR_RECORD_RECORDING_RUNNER_H_
#define TANDEM_ESTIMATOR_RECORD_RECORDING_RUNNER_H_

#include <functional>
#include <string>
#include <utility>

#include "estimator/loop/step_runner.h"
#include "estimator/record/step_bits.h"

namespace tandem {

// Only for trainings; each step must fetch "loss".
class RecordingRunner : public StepRunner {
 public:
  // Called after each finite step.
  using OnStep = std::function<absl::Status(int64_t step, const StepBits& bits)>;
  // `runner` must outlive this object.
  RecordingRunner(StepRunner* runner, StepSampler sampler, OnStep on_step)
      : runner_(*runner), sampler_(std::move(sampler)), on_step_(std::move(on_step)) {}

  absl::StatusOr<StepOutcome> Run(const StepRequest& request) override;
  bool WantsNext() const override { return runner_.WantsNext(); }
  void Prefetch(const BatchRound& round) override { runner_.Prefetch(round); }
  absl::StatusOr<std::string> FindNonFinite(const StepRequest& request) override {
    return runner_.FindNonFinite(request);
  }

 private:
  StepRunner& runner_;
  const StepSampler sampler_;
  const OnStep on_step_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_RECORD_RECORDING_RUNNER_H_
