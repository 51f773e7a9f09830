// The best evaluation so far, as checkpoints keep it.
#ifndef TANDEM_ESTIMATOR_BEST_RECORD_H_
#define TANDEM_ESTIMATOR_BEST_RECORD_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/eval_result.h"

namespace tandem {

struct BestRecord {
  double loss = 0;
  int64_t global_step = 0;
};

// By the evaluation's name.
class BestRecords {
 public:
  // Takes a result whose loss is a number and smaller than the record. True when it did.
  bool Update(const std::string& evaluation, const EvalResult& result);
  const std::map<std::string, BestRecord>& records() const { return records_; }

  // {"": {"loss": 0.25, "global_step": 100}}; empty text for no record.
  std::string ToJson() const;
  static absl::StatusOr<BestRecords> FromJson(absl::string_view json);

 private:
  std::map<std::string, BestRecord> records_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_BEST_RECORD_H_
