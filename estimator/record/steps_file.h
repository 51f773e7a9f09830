// steps.bits, the record of a run's steps beside its event files: 8 bytes for each.
//
//   bytes 0-15   "tandem-steps-1" and two zeros
//   bytes 16-23  the number of the first step, an integer
//   then         StepBits::Word of that step and the following ones; 0 for one that is not recorded
// All numbers are little-endian. A run that goes on from a checkpoint cuts what is behind it; so a torn end is cut too.
#ifndef TANDEM_ESTIMATOR_RECORD_STEPS_FILE_H_
#define TANDEM_ESTIMATOR_RECORD_STEPS_FILE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/env.h"
#include "estimator/record/step_bits.h"

namespace tandem {

inline constexpr char kStepsName[] = "steps.bits";

struct RecordedSteps {
  int64_t first = 0;
  std::vector<uint64_t> words;

  // The number of the step that would come next.
  int64_t end() const { return first + static_cast<int64_t>(words.size()); }
  // Nothing for a step that is not recorded.
  std::optional<StepBits> At(int64_t step) const;
};

// Nothing where there is no file, or not even its beginning. What is torn at its end is left out. DataLoss for a file
// that is no record, with what to do.
absl::StatusOr<std::optional<RecordedSteps>> ReadRecordedSteps(Env* env, const std::string& model_dir);

// Appends to the record of a model_dir. Nothing here fails: what cannot be written is one warning, and what comes later
// is dropped. Others see a step a second later at the latest, or after Flush. Not thread-safe.
class StepsWriter {
 public:
  StepsWriter(Env* env, std::string model_dir) : env_(env), model_dir_(std::move(model_dir)) {}
  // Writes what is left.
  ~StepsWriter() { Flush(); }
  StepsWriter(const StepsWriter&) = delete;
  StepsWriter& operator=(const StepsWriter&) = delete;

  // What was recorded of this step and later ones is cut.
  void Add(int64_t step, const StepBits& bits);
  void Flush();

 private:
  // The file, as far as it goes before `step`; what lacks up to there is not recorded.
  absl::Status Open(int64_t step);
  void GiveUp(const absl::Status& status);

  Env* const env_;
  const std::string model_dir_;
  std::unique_ptr<WritableFile> file_;  // null before the first step
  int64_t next_ = 0;
  std::string pending_;
  double flushed_ = 0;  // MonotonicSeconds of the last Flush
  bool failed_ = false;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_RECORD_STEPS_FILE_H_
