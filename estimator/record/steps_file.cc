#include "estimator/record/steps_file.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

constexpr size_t kMagicBytes = 16, kHeaderBytes = 24, kWordBytes = 8;
constexpr char kMagic[kMagicBytes] = "tandem-steps-1";
constexpr size_t kMostPending = 512 * kWordBytes;
constexpr double kFlushSeconds = 1;
constexpr int64_t kMostGap = int64_t{1} << 24;

void AppendNumber(uint64_t number, std::string* bytes) {
  for (size_t i = 0; i < kWordBytes; ++i) bytes->push_back(static_cast<char>(number >> (8 * i)));
}

uint64_t NumberAt(const std::string& bytes, size_t at) {
  uint64_t number = 0;
  for (size_t i = 0; i < kWordBytes; ++i)
    number |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[at + i])) << (8 * i);
  return number;
}

}  // namespace

std::optional<StepBits> RecordedSteps::At(int64_t step) const {
  if (step < first || step >= end() || words[step - first] == 0) return std::nullopt;
  return StepBits::OfWord(words[step - first]);
}

absl::StatusOr<std::optional<RecordedSteps>> ReadRecordedSteps(Env* env, const std::string& model_dir) {
  const std::string path = JoinPath(model_dir, kStepsName);
  const absl::StatusOr<std::string> bytes = env->ReadFile(path);
  if (absl::IsNotFound(bytes.status())) return std::nullopt;
  TD_RETURN_IF_ERROR(bytes.status());
  // The header is not complete, for example because a power failure came before it was written.
  if (bytes->size() < kHeaderBytes) return std::nullopt;
  RecordedSteps steps{.first = static_cast<int64_t>(NumberAt(*bytes, kMagicBytes))};
  if (std::memcmp(bytes->data(), kMagic, kMagicBytes) != 0 || steps.first < 0) {
    return absl::DataLossError(absl::StrCat(
        path, ": is no record of steps, or is damaged at its beginning; move it away to go on without a record"));
  }
  for (size_t at = kHeaderBytes; at + kWordBytes <= bytes->size(); at += kWordBytes) {
    steps.words.push_back(NumberAt(*bytes, at));
  }
  // Blocks that were never written to the disk read as zeros.
  while (!steps.words.empty() && steps.words.back() == 0) steps.words.pop_back();
  return steps;
}

absl::Status StepsWriter::Open(int64_t step) {
  file_ = nullptr;
  absl::StatusOr<std::optional<RecordedSteps>> read = ReadRecordedSteps(env_, model_dir_);
  if (!read.ok()) TD_LOG(WARNING) << "The record of steps begins anew: " << read.status().message();
  RecordedSteps kept = read.ok() ? (*read).value_or(RecordedSteps{.first = step}) : RecordedSteps{.first = step};
  // A record that ends more than kMostGap steps before `step` is of another run, and is dropped.
  if (kept.first >= step || step - kept.end() > kMostGap) kept = {.first = step};
  kept.words.resize(static_cast<size_t>(step - kept.first));
  std::string bytes(kMagic, kMagicBytes);
  AppendNumber(static_cast<uint64_t>(kept.first), &bytes);
  for (const uint64_t word : kept.words) AppendNumber(word, &bytes);
  // The new record is renamed over the old one, so readers see either of them, also if the run is killed now.
  const std::string path = JoinPath(model_dir_, kStepsName);
  TD_ASSIGN_OR_RETURN(TemporaryFile temporary, env_->CreateTemporary(path));
  absl::Status status = temporary.file->Append(bytes);
  if (status.ok()) status = env_->Rename(temporary.path, path);
  if (!status.ok()) {
    env_->DeleteFile(temporary.path).IgnoreError();
    return status;
  }
  file_ = std::move(temporary.file);
  next_ = step;
  return absl::OkStatus();
}

void StepsWriter::Add(int64_t step, const StepBits& bits) {
  if (failed_) return;
  if (file_ == nullptr || step != next_) {
    Flush();
    if (absl::Status status = Open(step); !status.ok()) return GiveUp(status);
    flushed_ = env_->MonotonicSeconds();
  }
  AppendNumber(bits.Word(), &pending_);
  ++next_;
  if (pending_.size() >= kMostPending || env_->MonotonicSeconds() >= flushed_ + kFlushSeconds) Flush();
}

void StepsWriter::Flush() {
  if (failed_ || pending_.empty()) return;
  const std::string bytes = std::exchange(pending_, {});
  flushed_ = env_->MonotonicSeconds();
  // Running out of memory here is only a warning, since this also runs at the end of a training that has run out of
  // memory.
  const absl::Status status = CatchResourceErrors("recording steps", [&] { return file_->Append(bytes); });
  if (!status.ok()) GiveUp(status);
}

void StepsWriter::GiveUp(const absl::Status& status) {
  failed_ = true;
  pending_.clear();
  file_ = nullptr;
  TD_LOG(WARNING) << "No more steps are recorded; training goes on without: " << status.message();
}

}  // namespace tandem
