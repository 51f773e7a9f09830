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

  // Call when a training begins. If it goes on from a checkpoint, GoOnFrom follows.
  void BeginTraining() { trains_here_ = true; }
  // Takes the records of a checkpoint (`json` may be empty) and those in the logs up to its step. `reads_logs`: this
  // process sees the model_dir.
  absl::Status GoOnFrom(absl::string_view json, int64_t step, bool reads_logs);
  // Takes an evaluation if it is the best so far. `ranked`: RunConfig.keep_best goes by it.
  void Update(const std::string& name, const EvalResult& result, const EvalKind& kind, bool ranked);

  // Returns the records of this process's training; if there are none, those in model_dir.
  BestRecords OnRecord() const;
  // What a checkpoint keeps; "" if there are no records.
  std::string ToJson() const { return records_.ToJson(); }
  // The step of this process's last evaluation that was the best so far by keep_best; -1 if there is none.
  int64_t best_step() const { return best_step_; }

 private:
  // Adds the evaluations up to a global step from the logs in model_dir; warns if they cannot be read.
  void AddFromLogs(int64_t last_step, BestRecords& records) const;

  const RunConfig& config_;
  BestRecords records_;
  bool trains_here_ = false;  // a training of this process has begun
  int64_t best_step_ = -1;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_EVALUATION_BEST_EVALUATIONS_H_
