#include "estimator/evaluation/best_evaluations.h"

#include <limits>

#include "base/logging.h"
#include "base/status_macros.h"

namespace tandem {

absl::Status BestEvaluations::GoOnFrom(absl::string_view json, int64_t step, bool reads_logs) {
  best_step_ = -1;
  if (!json.empty()) TD_RETURN_IF_ERROR(records_.Restore(json));
  if (reads_logs) AddFromLogs(step, records_);
  return absl::OkStatus();
}

void BestEvaluations::Update(const std::string& name, const EvalResult& result, const EvalKind& kind, bool ranked) {
  if (records_.Update(name, result, kind) && ranked) best_step_ = result.global_step();
}

void BestEvaluations::AddFromLogs(int64_t last_step, BestRecords& records) const {
  const absl::Status read = records.AddFromLogs(config_.file_env(), config_.model_dir, last_step);
  if (!read.ok() && !absl::IsNotFound(read)) {  // NotFound: there is no model_dir yet
    TD_LOG(WARNING) << "The records of evaluations could not be read: " << read.message();
  }
}

BestRecords BestEvaluations::OnRecord() const {
  if (trains_here_ && !records_.records().empty()) return records_;
  BestRecords found = records_;
  AddFromLogs(/*last_step=*/std::numeric_limits<int64_t>::max(), found);
  return found;
}

}  // namespace tandem
