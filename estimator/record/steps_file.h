// steps.bits: the record of a run's steps beside its event files, 8 bytes for each step.
//
//   bytes 0-15   "tandem-steps-1" and two zeros
//   bytes 16-23  the number of the first step, an integer
//   then         StepBits::Word of that step and the following ones; 0 for a step that is not recorded
// All numbers are little-endian. A run that goes on from a checkpoint cuts off later steps, and so also a torn end.
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

  // The number of the step after the last one.
  int64_t end() const { return first + static_cast<int64_t>(words.size()); }
  // Returns nothing for a step that is not recorded.
  std::optional<StepBits> At(int64_t step) const;
};

// Returns nothing if the file does not exist or does not even have its header. Ignores a torn end. DataLoss, with
// advice, for a file that is no record.
absl::StatusOr<std::optional<RecordedSteps>> ReadRecordedSteps(Env* env, const std::string& model_dir);

// Appends to the record of a model_dir. Nothing here fails: the first write error is a warning, and later steps are
// dropped. Add writes the steps so far to the file about once a second, and Flush at once. Not thread-safe.
class StepsWriter {
 public:
  StepsWriter(Env* env, std::string model_dir) : env_(env), model_dir_(std::move(model_dir)) {}
  // Writes the steps that are not in the file yet.
  ~StepsWriter() { Flush(); }
  StepsWriter(const StepsWriter&) = delete;
  StepsWriter& operator=(const StepsWriter&) = delete;

  // Adds a step; removes what was recorded of this step and later ones.
  void Add(int64_t step, const StepBits& bits);
  void Flush();

 private:
  // Opens the file. Steps before `step` are kept, and missing ones count as not recorded; later ones are removed.
  absl::Status Open(int64_t step);
  void GiveUp(const absl::Status& status);

  Env* const env_;
  const std::string model_dir_;
  std::unique_ptr<WritableFile> file_;  // null until the first step
  int64_t next_ = 0;
  std::string pending_;
  double flushed_ = 0;  // MonotonicSeconds at the last Flush
  bool failed_ = false;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_RECORD_STEPS_FILE_H_
