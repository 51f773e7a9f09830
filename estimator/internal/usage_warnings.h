// UsageWarnings: warnings about an Estimator's calls that are allowed but probably mistakes.
#ifndef TANDEM_ESTIMATOR_INTERNAL_USAGE_WARNINGS_H_
#define TANDEM_ESTIMATOR_INTERNAL_USAGE_WARNINGS_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "estimator/config/params.h"
#include "estimator/config/run_config.h"
#include "estimator/estimator.h"
#include "estimator/hooks/watched_values.h"
#include "estimator/job/cooperation.h"
#include "estimator/loop/batch_dealer.h"
#include "estimator/model/mode_program.h"

namespace tandem {

// The chief alone warns. RunConfig.silence switches warnings off by name.
class UsageWarnings {
 public:
  // All arguments must outlive this object.
  UsageWarnings(const RunConfig& config, const Params& params, const Cooperation& cooperation)
      : config_(config), params_(params), cooperation_(cooperation) {}

  // Warns if the input never ends and no number of steps is set.
  void EndlessInput(const TrainOptions& options, const BatchDealer& dealer) const;
  // Call before the first step of a training, which is number `step`. Warns if the number of steps that the input is
  // long enough for is known and smaller than `options` ask for.
  void ShortInput(const TrainOptions& options, const BatchDealer& dealer, int64_t step);
  // Warns if the input has ended at global step `step`, after `steps` steps of this call, before those that `options`
  // ask for, unless ShortInput has warned.
  void EndedInput(const TrainOptions& options, const BatchDealer& dealer, int64_t steps, int64_t step) const;
  // Returns an object that watches the summaries and metrics of a training for values that are not finite; null if the
  // model has none.
  std::unique_ptr<WatchedValues> WatchValues(const ModeProgram& program) const;
  // Warns of likely mistakes after a call of model_fn; each line once, also if several modes have it.
  void Model(const ModeProgram& program);
  // Warns of params that were never read; once, after model_fn, input_fn and hooks could have read them.
  void UnreadParams();

 private:
  const RunConfig& config_;
  const Params& params_;
  const Cooperation& cooperation_;
  bool short_input_said_ = false;  // ShortInput has warned in this training
  bool params_looked_at_ = false;
  std::set<std::string> said_of_model_;  // the warnings that Model has logged
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_INTERNAL_USAGE_WARNINGS_H_
