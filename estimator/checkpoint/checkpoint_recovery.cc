// CheckpointManager::Recover: tidies a model directory that an earlier run has left.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "base/temporary_files.h"
#include "base/temporary_name.h"
#include "estimator/checkpoint/checkpoint_manager.h"

namespace tandem {
namespace {

constexpr absl::string_view kTemporary = ".tmp-";

// True for the name of a checkpoint that another one of the same step has replaced: "model.ckpt-100.old-2".
bool IsReplaced(absl::string_view name) {
  const size_t old = name.find(".old-");
  int k = 0;
  return old != absl::string_view::npos && CheckpointStep(name.substr(0, old)).has_value() &&
         absl::SimpleAtoi(name.substr(old + 5), &k);
}

}  // namespace

// Removes what earlier processes left. Of the checkpoints whose writing was interrupted, the last one is renamed and
// kept for inspection. The others, all other temporary files and half-deleted checkpoints are deleted. With `replaced`,
// checkpoints that newer ones of the same step have replaced are deleted too; the caller sets it once it has found a
// checkpoint to go on from. Nobody else saves checkpoints here, since the caller holds the directory's lock, but an
// evaluation may be writing its result.
absl::Status CheckpointManager::ClearLeftovers(bool replaced) {
  TD_ASSIGN_OR_RETURN(std::vector<std::string> names, env_->ListDir(dir_));
  std::vector<std::string> unfinished, aside;
  for (const std::string& name : names) {
    if (replaced && IsReplaced(name)) TD_RETURN_IF_ERROR(env_->DeleteRecursively(Path(name)));
    if (!absl::StartsWith(name, kTemporary)) continue;
    if (absl::StrContains(name, ".damaged-")) {
      aside.push_back(name);
    } else if (absl::StartsWith(name, absl::StrCat(kTemporary, kCheckpointPrefix))) {
      unfinished.push_back(name);
    } else if (IsTemporary(name) && TargetOfTemporary(name).empty()) {  // named as by an earlier version
      TD_RETURN_IF_ERROR(env_->DeleteRecursively(Path(name)));
    }
  }
  TD_RETURN_IF_ERROR(DeleteTemporaries(
      env_, dir_, [](absl::string_view target) { return !absl::StartsWith(target, kCheckpointPrefix); }));
  if (unfinished.empty()) return absl::OkStatus();
  for (const std::string& name : aside) TD_RETURN_IF_ERROR(env_->DeleteRecursively(Path(name)));
  for (size_t i = 0; i + 1 < unfinished.size(); ++i) TD_RETURN_IF_ERROR(env_->DeleteRecursively(Path(unfinished[i])));
  TD_LOG(WARNING) << "A checkpoint was not finished, probably because the process that saved it was killed.";
  return MoveAside(unfinished.back(), "damaged");
}

void CheckpointManager::WarnOfLostPointer(int64_t step) {
  if (!warned_of_lost_pointer_.insert(step).second) return;
  TD_LOG(WARNING) << "The file " << Path(kPointerName) << ", which names the newest checkpoint, is not there; taking "
                  << CheckpointName(step) << ", the newest complete one.";
}

void CheckpointManager::WarnOfDamage(int64_t step, const absl::Status& status) {
  if (!warned_of_damage_.insert(step).second) return;
  TD_LOG(WARNING) << "Checkpoint " << CheckpointName(step) << " is damaged: " << status.message();
}

absl::StatusOr<std::optional<std::string>> CheckpointManager::LatestWithoutPointer(absl::string_view in_memory) {
  TD_ASSIGN_OR_RETURN(std::vector<int64_t> steps, Steps());
  if (steps.empty()) return std::optional<std::string>();
  absl::Status newest;  // the error of the newest checkpoint
  for (auto it = steps.rbegin(); it != steps.rend(); ++it) {
    std::string path = Path(CheckpointName(*it));
    absl::Status status;
    if (path != in_memory) status = Verified([&] { return path; }).status();
    if (status.ok()) {
      WarnOfLostPointer(*it);
      return std::optional<std::string>(std::move(path));
    }
    if (!absl::IsDataLoss(status) && !absl::IsNotFound(status)) return status;
    if (newest.ok()) newest = status;
    WarnOfDamage(*it, status);
  }
  return DamagedError(newest, steps.back());
}

std::optional<int64_t> CheckpointManager::NewestIntactBelow(int64_t step) {
  auto steps = Steps();
  if (!steps.ok()) return std::nullopt;
  for (auto it = steps->rbegin(); it != steps->rend(); ++it) {
    if (*it < step && Verify(CheckpointName(*it)).ok()) return *it;
  }
  return std::nullopt;
}

absl::Status CheckpointManager::DamagedError(const absl::Status& damage, int64_t step) {
  if (!absl::IsDataLoss(damage) && !absl::IsNotFound(damage)) return damage;
  std::string path = Path(CheckpointName(step));
  std::string advice;
  if (env_->Exists(absl::StrCat(path, ".index"))) {
    advice = "This is a TensorFlow checkpoint, which Tandem cannot read: use another model_dir.";
  } else if (auto older = NewestIntactBelow(step)) {
    advice = absl::StrCat("Restore it from a backup, or delete ", path, " to go on from ", CheckpointName(*older),
                          ", the newest intact one.");
  } else {
    advice = absl::StrCat("No other checkpoint is intact: restore it from a backup, or delete ", path, " and ",
                          Path(kPointerName), " to train from the beginning.");
  }
  return absl::DataLossError(absl::StrCat("the newest checkpoint is damaged: ", damage.message(), ". ", advice));
}

absl::StatusOr<std::optional<std::string>> CheckpointManager::Recover() {
  using Result = std::optional<std::string>;
  TD_ASSIGN_OR_RETURN(std::vector<int64_t> steps, Steps());
  TD_ASSIGN_OR_RETURN(std::optional<PointerFile> pointer, ReadPointer());
  if (!pointer && steps.empty()) {
    if (env_->Exists(dir_)) TD_RETURN_IF_ERROR(ClearLeftovers(/*replaced=*/false));
    return Result();
  }
  int64_t pointed = pointer ? *CheckpointStep(pointer->latest) : -1;

  // Checks the checkpoints newer than the pointer, newest first. Damaged ones are renamed only once a checkpoint to go
  // on from has been found.
  std::vector<std::pair<int64_t, absl::Status>> damaged;
  std::optional<int64_t> found;
  for (auto it = steps.rbegin(); it != steps.rend() && *it > pointed && !found; ++it) {
    absl::Status status = Verify(CheckpointName(*it));
    if (status.ok()) {
      found = *it;
      if (pointer) {
        TD_LOG(WARNING) << "Checkpoint " << CheckpointName(*it) << " is complete and newer than the file "
                        << Path(kPointerName) << " says; going on from it.";
      } else {
        WarnOfLostPointer(*it);
      }
    } else if (absl::IsDataLoss(status)) {
      damaged.push_back({*it, status});
    } else {
      return status;
    }
  }
  if (!found && !pointer) return DamagedError(damaged.front().second, damaged.front().first);
  if (!found) {
    absl::Status status = Verify(pointer->latest);
    if (absl::IsNotFound(status) && PutBackReplaced(pointer->latest).ok()) status = Verify(pointer->latest);
    if (status.ok()) {
      found = pointed;
    } else if (absl::IsNotFound(status) && (found = NewestIntactBelow(pointed))) {
      TD_LOG(WARNING) << "Checkpoint " << pointer->latest << ", which " << Path(kPointerName)
                      << " names, is not there; going on from the older " << CheckpointName(*found) << ".";
    } else {
      return DamagedError(status, pointed);
    }
  }
  for (const auto& [step, status] : damaged) {
    WarnOfDamage(step, status);
    TD_RETURN_IF_ERROR(MoveAside(CheckpointName(step), "damaged"));
  }
  if (*found != pointed) TD_RETURN_IF_ERROR(WritePointer(*found));
  TD_RETURN_IF_ERROR(ClearLeftovers(/*replaced=*/true));
  return Result(Path(CheckpointName(*found)));
}

}  // namespace tandem
