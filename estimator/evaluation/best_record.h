// The best evaluations so far, as checkpoints store them, and the steps of the checkpoints that belong to the best
// ones.
#ifndef TANDEM_ESTIMATOR_EVALUATION_BEST_RECORD_H_
#define TANDEM_ESTIMATOR_EVALUATION_BEST_RECORD_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tandem/base/api.h"
#include "tandem/base/env.h"
#include "tandem/estimator/config/keep_best.h"
#include "tandem/estimator/evaluation/eval_log.h"
#include "tandem/estimator/evaluation/eval_result.h"

namespace TANDEM_API tandem {

// The best evaluation of one name.
struct BestRecord {
  double loss = 0;  // the evaluation's loss; may be infinite or NaN
  int64_t global_step = 0;
  // The number of steps that the evaluation was to make; 0: the whole input.
  int64_t steps = 0;
  bool raw_weights = false;  // true: the evaluation used no moving averages
  // The metric by which the evaluation is the best: that of RunConfig.keep_best if it follows evaluations of this name,
  // otherwise the loss, of which the smallest is the best.
  std::string metric = "loss";
  MetricDirection direction = MetricDirection::kMin;
  double value = 0;
  // The checkpoint of that step; empty if it does not exist. Set by Estimator::best only. With keep_best it exists
  // unless somebody deleted it; without, rotation may have deleted it.
  std::string checkpoint = "";
};

// The best evaluation of each name (EvalSpec.name) so far.
class BestRecords {
 public:
  BestRecords() = default;
  explicit BestRecords(std::optional<KeepBest> keep_best) : keep_best_(std::move(keep_best)) {}

  // Replaces the record of this evaluation's name by `result` if that has a better metric; NaN is never better. Returns
  // whether it did. Only results of one kind are compared: a result over the whole input replaces a record over a part
  // of it, and never the other way round; a result with another number of steps, or with other weights, replaces the
  // record.
  bool Update(const std::string& evaluation, const EvalResult& result, const EvalKind& kind = {});
  // The records by the evaluations' names.
  const std::map<std::string, BestRecord>& records() const { return records_; }

  // Returns {"": {"loss": 0.25, "global_step": 100}}, with "steps" if it is not 0, "raw_weights" if it is true, and
  // "metric", "direction" and "value" if the record is not the one with the smallest loss. Infinities are written as in
  // base/json_number.h. Returns "" if there is no record.
  std::string ToJson() const;
  // Parses what ToJson returns; DataLoss for other text.
  static absl::StatusOr<BestRecords> FromJson(absl::string_view json);

  // Replaces all records by those of a checkpoint's text, except those with another metric or direction than this
  // object uses.
  absl::Status Restore(absl::string_view json);
  // Adds evaluations up to the global step `last_step` from the logs in `model_dir`. The records of a checkpoint lack
  // some of them: a checkpoint is saved before it is evaluated, and an evaluator in a process of its own saves no
  // checkpoint. Evaluations over a part of the input count only if TrainAndEvaluate made them, or if the existing
  // record is over as many steps and of the same weights.
  absl::Status AddFromLogs(Env* env, const std::string& model_dir, int64_t last_step);

 private:
  // Returns the metric and direction that records of this evaluation use.
  KeepBest Rule(const std::string& evaluation) const;

  std::optional<KeepBest> keep_best_;
  std::map<std::string, BestRecord> records_;
};

// Returns those of `steps`, the global steps of checkpoints, whose evaluations in `history` are the best
// keep_best.count ones; of equal ones the earlier steps. Steps without an evaluation, or with a metric of NaN, are left
// out.
std::set<int64_t> BestSteps(const EvalHistory& history, const KeepBest& keep_best, const std::vector<int64_t>& steps);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_EVALUATION_BEST_RECORD_H_
