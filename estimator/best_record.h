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
  int64_t steps = 0;  // that were evaluated; 0: the whole input
};

// By the evaluation's name.
class BestRecords {
 public:
  // Takes a result over `steps` steps (0: the whole input) whose loss is a number, where it is smaller than that of the
  // record. Only what covers the same is compared: a result over the whole input takes the place of one that was not,
  // which never takes its; other numbers of steps begin anew. True when it was taken.
  bool Update(const std::string& evaluation, const EvalResult& result, int64_t steps = 0);
  const std::map<std::string, BestRecord>& records() const { return records_; }

  // {"": {"loss": 0.25, "global_step": 100}}, with "steps" where it is not 0; empty text for no record.
  std::string ToJson() const;
  static absl::StatusOr<BestRecords> FromJson(absl::string_view json);

 private:
  std::map<std::string, BestRecord> records_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_BEST_RECORD_H_
