// BestEvaluations: the best evaluations that an Estimator knows of.
#ifndef TANDEM_ESTIMATOR_EVALUATION_BEST_EVALUATIONS_H_
#define TANDEM_ESTIMATOR_EVALUATION_BEST_EVALUATIONS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/config/run_config.h"
#include "estimator/evaluation/best_record.h"
#include "estimator/evaluation/eval_log.h"
#include "estimator/evaluation/eval_result.h"

namespace tandem {

class BestEvaluations {
 public:
  // `config` must outlive this object.
  explicit BestEvaluations(const RunConfig& config) : config_(config), records_(config.keep_best) {}

  // Call when a training begins. If the training goes on from a checkpoint, call GoOnFrom next.
  void BeginTraining() { trains_here_ = true; }
  // Replaces the records by those in `json`, the text of a checkpoint, unless it is empty. With `reads_logs`, which
  // needs a process that sees model_dir, also adds better evaluations up to global step `step` from the logs there.
  absl::Status GoOnFrom(absl::string_view json, int64_t step, bool reads_logs);
  // Records an evaluation if it is the best so far. `ranked` says whether RunConfig.keep_best follows this evaluation.
  void Update(const std::string& name, const EvalResult& result, const EvalKind& kind, bool ranked);

  // Returns the records of this process's training; if there are none, those in model_dir.
  BestRecords OnRecord() const;
  // Returns the text that a checkpoint stores; "" if there are no records.
  std::string ToJson() const { return records_.ToJson(); }
  // The step of this process's last evaluation that was the best so far by keep_best; -1 if there is none.
  int64_t best_step() const { return best_step_; }

 private:
  // Adds the evaluations up to a global step from the logs in model_dir; warns if they cannot be read.
  void AddFromLogs(int64_t last_step, BestRecords& records) const;

  const RunConfig& config_;
  BestRecords records_;
  bool trains_here_ = false;  // true: a training of this process has begun
  int64_t best_step_ = -1;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_EVALUATION_BEST_EVALUATIONS_H_
