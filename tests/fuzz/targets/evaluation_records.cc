// JSON that evaluations leave behind: a line of the log, and the best record.
#include "estimator/evaluation/best_record.h"
#include "estimator/evaluation/eval_result.h"
#include "tests/fuzz/fuzz_target.h"

namespace tandem::fuzz {

std::vector<std::string> Seeds() {
  return {R"({"accuracy": 0.5, "loss": 1.25, "global_step": 100, "auc": null})",
          R"({"": {"loss": 0.25, "global_step": 100}, "validation": {"loss": 1e-3, "global_step": 7}})"};
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto result = tandem::EvalResult::FromJson(text);
  const auto records = tandem::BestRecords::FromJson(text);
  if (result.ok()) result->ToJson(), result->ToString();
  if (records.ok()) records->ToJson();
  if (result.ok() || records.ok()) tandem::fuzz::NoteAccepted();
  return 0;
}
