// OwnBatches: the batches of one worker that makes its steps by itself.
#ifndef TANDEM_ESTIMATOR_PARAMETER_SERVER_OWN_BATCHES_H_
#define TANDEM_ESTIMATOR_PARAMETER_SERVER_OWN_BATCHES_H_

#include <string>

#include "estimator/step_runner.h"

namespace tandem {

// Of the rounds of `all`, which are dealt to the replicas of all workers, the batches of this one. Rounds without
// examples for it are left out.
class OwnBatches : public BatchSource {
 public:
  // `all` must outlive this.
  explicit OwnBatches(BatchSource* all) : all_(*all) {}

  absl::StatusOr<bool> Next(Round* round) override;
  std::string TraceArgs() const override { return all_.TraceArgs(); }

 private:
  BatchSource& all_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_PARAMETER_SERVER_OWN_BATCHES_H_
