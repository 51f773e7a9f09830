#include "estimator/checkpoint/checkpoint_manager.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "base/temporary_files.h"
#include "base/temporary_name.h"
#include "base/text_file.h"
#include "base/unsynced_files.h"
#include "estimator/checkpoint/consistent_read.h"
#include "estimator/checkpoint/kept_by_hours.h"

namespace tandem {

CheckpointManager::CheckpointManager(Env* env, std::string dir, int keep_max)
    : env_(env), dir_(std::move(dir)), keep_max_(keep_max) {
  for (std::string child = dir_; absl::IsNotFound(env_->Stat(child).status()) && DirName(child) != child;) {
    child = DirName(child);
    unsynced_parents_.push_back(child);
  }
}

absl::StatusOr<std::vector<int64_t>> CheckpointManager::Steps() {
  auto names = env_->ListDir(dir_);
  if (absl::IsNotFound(names.status())) return std::vector<int64_t>{};
  TD_RETURN_IF_ERROR(names.status());
  std::vector<int64_t> steps;
  for (const std::string& name : *names) {
    if (auto step = CheckpointStep(name)) steps.push_back(*step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

absl::StatusOr<std::vector<std::string>> CheckpointManager::ListCheckpoints() {
  TD_ASSIGN_OR_RETURN(std::vector<int64_t> steps, Steps());
  std::vector<std::string> paths;
  for (int64_t step : steps) paths.push_back(Path(CheckpointName(step)));
  return paths;
}

absl::StatusOr<std::optional<PointerFile>> CheckpointManager::ReadPointer() {
  std::string path = Path(kPointerName);
  auto text = ReadTextFile(env_, path);
  if (absl::IsNotFound(text.status())) return std::optional<PointerFile>();
  // A directory or a FIFO in place of the file counts as damage of the model directory.
  if (absl::IsFailedPrecondition(text.status())) text = absl::DataLossError(text.status().message());
  absl::StatusOr<PointerFile> pointer = text.ok() ? ParsePointerFile(*text, path) : text.status();
  if (pointer.ok()) return std::optional<PointerFile>(*std::move(pointer));
  if (!absl::IsDataLoss(pointer.status())) return pointer.status();
  auto newest = NewestIntactBelow(std::numeric_limits<int64_t>::max());
  return Annotate(pointer.status(), "",
                  newest ? absl::StrCat(". Delete the file to go on from ", CheckpointName(*newest),
                                        ", the newest intact checkpoint.")
                         : ". No checkpoint in this directory is intact; delete the file to train from the beginning.");
}

absl::Status CheckpointManager::WritePointer(int64_t step) {
  // Lists the checkpoints that will be left after the old ones are deleted, which happens later.
  absl::StatusOr<std::vector<int64_t>> steps = Left(step);
  if (!steps.ok()) steps = Steps();
  TD_RETURN_IF_ERROR(steps.status());
  PointerFile pointer{.latest = CheckpointName(step)};
  for (int64_t s : *steps) pointer.all.push_back(CheckpointName(s));
  return env_->WriteFileAtomically(Path(kPointerName), pointer.Text());
}

absl::Status CheckpointManager::Verify(const std::string& name) {
  std::string path = Path(name);
  TD_ASSIGN_OR_RETURN(Manifest manifest, VerifyManifest(env_, path));
  if (auto step = CheckpointStep(name); step && *step != manifest.global_step) {
    return absl::DataLossError(absl::StrCat(JoinPath(path, kManifestName), ": is of step ", manifest.global_step,
                                            ": the directory was renamed"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> CheckpointManager::Save(const CheckpointData& data) {
  std::string name = CheckpointName(data.global_step);
  auto saved = [&]() -> absl::StatusOr<std::string> {
    TD_ASSIGN_OR_RETURN(CheckpointImage image, SerializeCheckpoint(data));
    TD_RETURN_IF_ERROR(CreateDirsUnsynced(env_, dir_));
    for (; !unsynced_parents_.empty(); unsynced_parents_.pop_back()) {
      TD_RETURN_IF_ERROR(env_->SyncDir(unsynced_parents_.back()));
    }
    return SaveInto(image, data.global_step);
  }();
  if (saved.ok()) {
    DeleteOld(data.global_step);
    return saved;
  }
  absl::string_view advice = absl::IsResourceExhausted(saved.status())  ? "; free some space or use another model_dir"
                             : absl::IsPermissionDenied(saved.status()) ? "; make the directory writable or use another"
                                                                        : "";
  return Annotate(saved.status(), absl::StrCat("checkpoint ", name, " was not saved: "),
                  absl::StrCat(advice, " (checkpoints saved before are intact)"));
}

absl::StatusOr<std::string> CheckpointManager::SaveInto(const CheckpointImage& image, int64_t step) {
  std::string name = CheckpointName(step), path = Path(name);
  absl::Status existing = Verify(name);
  if (existing.ok()) {
    TD_ASSIGN_OR_RETURN(std::string manifest, env_->ReadFile(JoinPath(path, kManifestName)));
    if (manifest == image.manifest) {  // the manifest has the checksums of all files, so the content is equal
      TD_RETURN_IF_ERROR(WritePointer(step));
      return path;
    }
  } else if (!absl::IsNotFound(existing) && !absl::IsDataLoss(existing)) {
    return existing;
  }

  const std::string temporary = TemporaryPath(env_, path);
  absl::Status status = env_->CreateDir(temporary);
  for (const auto& [file, pieces] : image.Files()) {
    if (status.ok()) status = env_->WriteNewFile(JoinPath(temporary, file), pieces);
  }
  if (status.ok()) status = env_->SyncDir(temporary);
  if (status.ok() && !absl::IsNotFound(existing)) status = MoveAside(name, existing.ok() ? "old" : "damaged");
  if (status.ok()) status = env_->Rename(temporary, path);
  if (!status.ok()) {
    env_->DeleteRecursively(temporary).IgnoreError();  // gives back the space if the disk is full
    if (existing.ok()) PutBackReplaced(name).IgnoreError();
    return status;
  }
  TD_RETURN_IF_ERROR(env_->SyncDir(dir_));
  // Records the checkpoint if it is to be kept for keep_every_n_hours. If that fails, a later checkpoint may be
  // recorded in its place, so a failure does not make the save fail.
  if (absl::Status kept = KeptByHours(env_, dir_, hours_).Saved(step); !kept.ok()) {
    TD_LOG(WARNING) << "Could not note a checkpoint as kept: " << kept.message();
  }
  TD_RETURN_IF_ERROR(WritePointer(step));
  return path;
}

absl::Status CheckpointManager::MoveAside(const std::string& name, const std::string& suffix) {
  for (int k = 1;; ++k) {
    std::string aside = absl::StrCat(name, ".", suffix, "-", k);
    if (env_->Exists(Path(aside))) continue;
    TD_LOG(WARNING) << "Moving " << Path(name) << " aside to " << aside << ".";
    return env_->Rename(Path(name), Path(aside));
  }
}

// A Save that replaced a checkpoint of the same step may have been killed between its two renames.
absl::Status CheckpointManager::PutBackReplaced(const std::string& name) {
  if (env_->Exists(Path(name))) return absl::OkStatus();
  std::string last;
  for (int k = 1; env_->Exists(Path(absl::StrCat(name, ".old-", k))); ++k) last = absl::StrCat(name, ".old-", k);
  if (last.empty()) return absl::NotFoundError(absl::StrCat(Path(name), ": there is no such checkpoint"));
  TD_RETURN_IF_ERROR(VerifyManifest(env_, Path(last)).status());
  TD_LOG(WARNING) << "Moving " << Path(last) << " back to " << name << ": it was being replaced.";
  TD_RETURN_IF_ERROR(env_->Rename(Path(last), Path(name)));
  return env_->SyncDir(dir_);
}

absl::StatusOr<std::vector<int64_t>> CheckpointManager::Left(int64_t current_step) {
  TD_ASSIGN_OR_RETURN(std::vector<int64_t> steps, Steps());
  if (keep_max_ <= 0 || static_cast<int64_t>(steps.size()) <= keep_max_) return steps;
  TD_ASSIGN_OR_RETURN(std::set<int64_t> kept, KeptByHours(env_, dir_, hours_).Steps());
  if (protected_) {
    TD_ASSIGN_OR_RETURN(const std::set<int64_t> more, protected_(steps));
    kept.insert(more.begin(), more.end());
  }
  // The number of checkpoints from the one that erase_if examines to the newest one.
  auto newest = static_cast<int64_t>(steps.size());
  std::erase_if(steps, [&](int64_t step) {
    if (newest <= keep_max_ || step == current_step) return false;
    --newest;
    return !kept.contains(step);
  });
  return steps;
}

void CheckpointManager::DeleteOld(int64_t current_step) {
  const absl::StatusOr<std::vector<int64_t>> steps = Steps(), left = Left(current_step);
  absl::Status status = steps.ok() ? left.status() : steps.status();
  for (size_t i = 0; status.ok() && i < steps->size(); ++i) {
    const int64_t step = (*steps)[i];
    if (std::binary_search(left->begin(), left->end(), step)) continue;
    status = DeleteAside(env_, Path(CheckpointName(step)));
  }
  if (!status.ok()) TD_LOG(WARNING) << "Could not delete old checkpoints: " << status.message();
}

absl::StatusOr<std::string> CheckpointManager::Verified(const std::function<absl::StatusOr<std::string>()>& find) {
  return ReadConsistently(env_, kManifestName, find, [this](const std::string& path) -> absl::StatusOr<std::string> {
    TD_RETURN_IF_ERROR(Verify(BaseName(path)));
    return path;
  });
}

absl::StatusOr<std::optional<std::string>> CheckpointManager::LatestCheckpoint(absl::string_view in_memory) {
  for (int attempt = 1;; ++attempt) {
    TD_ASSIGN_OR_RETURN(std::optional<PointerFile> pointer, ReadPointer());
    if (!pointer) {
      TD_ASSIGN_OR_RETURN(std::vector<int64_t> steps, Steps());
      // The first Save of a directory writes the checkpoint and then the pointer. A reader in between waits for the
      // pointer once.
      if (steps.empty() || attempt > 1) return LatestWithoutPointer(in_memory);
      env_->SleepSeconds(kReadPauseSeconds);
      continue;
    }
    if (Path(pointer->latest) == in_memory) return Path(pointer->latest);
    const absl::StatusOr<std::string> verified = Verified([&]() -> absl::StatusOr<std::string> {
      TD_ASSIGN_OR_RETURN(std::optional<PointerFile> now, ReadPointer());
      if (now) pointer = std::move(now);
      return Path(pointer->latest);
    });
    if (verified.ok()) return *verified;
    // Tries again if the checkpoint that the pointer names does not exist yet, because a writer is about to rename it.
    // Other errors are returned.
    if (attempt == kReadAttempts || !absl::IsNotFound(verified.status())) {
      return DamagedError(verified.status(), *CheckpointStep(pointer->latest));
    }
  }
}

absl::StatusOr<CheckpointData> CheckpointManager::Restore(const std::string& path) {
  return ReadCheckpoint(env_, path);
}

absl::StatusOr<std::optional<CheckpointData>> CheckpointManager::RestoreLatest(std::string* path,
                                                                               absl::string_view in_memory) {
  using Result = std::optional<CheckpointData>;
  return ReadConsistently(
      env_, kManifestName,
      [&]() -> absl::StatusOr<std::string> {
        TD_ASSIGN_OR_RETURN(std::optional<std::string> latest, LatestCheckpoint(in_memory));
        return std::move(latest).value_or("");
      },
      [&](const std::string& latest) -> absl::StatusOr<Result> {
        if (path != nullptr) *path = latest;
        if (latest.empty() || latest == in_memory) return Result();
        TD_ASSIGN_OR_RETURN(CheckpointData data, Restore(latest));
        return Result(std::move(data));
      });
}

}  // namespace tandem
