// The best evaluation so far, as checkpoints keep it, and the checkpoints of the best ones.
#ifndef TANDEM_ESTIMATOR_BEST_RECORD_H_
#define TANDEM_ESTIMATOR_BEST_RECORD_H_

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
#include "base/env.h"
#include "estimator/eval_log.h"
#include "estimator/eval_result.h"
#include "estimator/keep_best.h"

namespace tandem {

struct BestRecord {
  double loss = 0;  // of that evaluation; may be infinite or NaN
  int64_t global_step = 0;
  // That were to be evaluated; 0: the whole input.
  int64_t steps = 0;
  bool raw_weights = false;  // evaluated without moving averages
  // What it is the best by: RunConfig.keep_best for the evaluations it names, otherwise the smallest loss.
  std::string metric = "loss";
  MetricDirection direction = MetricDirection::kMin;
  double value = 0;
  // Estimator::best: the checkpoint of that step, where there is one. With keep_best there is, unless somebody deleted
  // it; without, rotation may have.
  std::string checkpoint = "";
};

// By the evaluation's name.
class BestRecords {
 public:
  BestRecords() = default;
  explicit BestRecords(std::optional<KeepBest> keep_best) : keep_best_(std::move(keep_best)) {}

  // Takes a result whose metric is no NaN, where it is better than that of the record. Only what is of one kind is
  // compared: a result over the whole input takes the place of one that was not, which never takes its; other numbers
  // of steps, and other weights, begin anew. True when it was taken.
  bool Update(const std::string& evaluation, const EvalResult& result, const EvalKind& kind = {});
  const std::map<std::string, BestRecord>& records() const { return records_; }

  // {"": {"loss": 0.25, "global_step": 100}}, with "steps" where it is not 0, "raw_weights" where it is true, and with
  // "metric", "direction" and "value" where it is not by the smallest loss; infinities as in base/json_number.h; empty
  // text for no record.
  std::string ToJson() const;
  static absl::StatusOr<BestRecords> FromJson(absl::string_view json);

  // In place of all records: those of a checkpoint's text, but for those by another metric or direction.
  absl::Status Restore(absl::string_view json);
  // Adds what the logs of evaluations in `model_dir` have up to the global step `last_step`. A checkpoint is saved
  // before its evaluation, and an evaluator in a process of its own saves none. Evaluations over a part of the input
  // count where a job has made them, or such a one is the record.
  absl::Status AddFromLogs(Env* env, const std::string& model_dir, int64_t last_step);

 private:
  // What the record of an evaluation is by.
  KeepBest Rule(const std::string& evaluation) const;

  std::optional<KeepBest> keep_best_;
  std::map<std::string, BestRecord> records_;
};

// Of checkpoints of these global steps, those of the best keep_best.count evaluations in `history`; of equal ones the
// earlier. Steps without an evaluation that is a number are none.
std::set<int64_t> BestSteps(const EvalHistory& history, const KeepBest& keep_best, const std::vector<int64_t>& steps);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_BEST_RECORD_H_
