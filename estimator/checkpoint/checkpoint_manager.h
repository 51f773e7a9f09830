// Saves and finds the checkpoints of one model directory, so that at every moment, whatever is killed, the newest
// finished checkpoint can be restored.
//
// Save: write a temporary directory, fsync each file, rename to `model.ckpt-N`, fsync the directory, replace the
// pointer file `checkpoint` (pointer_file.h), and only then delete old checkpoints. One process at a time may save into
// a directory, the one that holds its lock (estimator/model_dir.h); any number may read.
#ifndef TANDEM_ESTIMATOR_CHECKPOINT_CHECKPOINT_MANAGER_H_
#define TANDEM_ESTIMATOR_CHECKPOINT_CHECKPOINT_MANAGER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/env.h"
#include "estimator/checkpoint/checkpoint.h"
#include "estimator/checkpoint/pointer_file.h"

namespace tandem {

// Thread-compatible. All paths returned are `dir` + "/model.ckpt-N".
class CheckpointManager {
 public:
  // Keeps the `keep_max` newest checkpoints; 0 keeps all.
  CheckpointManager(Env* env, std::string dir, int keep_max = 5);

  // What stays besides the newest ones. `of`: those of checkpoints of these steps, oldest first; asked at every Save,
  // on its thread. With an error, nothing is deleted.
  using Protected = std::function<absl::StatusOr<std::set<int64_t>>(const std::vector<int64_t>& steps)>;
  void set_protected(Protected of) { protected_ = std::move(of); }
  // And one of every so many hours (kept_by_hours.h); 0: no more than are kept already.
  void set_keep_every_n_hours(double hours) { hours_ = hours; }

  // Brings the directory in order before training begins; returns the checkpoint to go on from, verified, or nothing
  // when the directory has none (it need not exist). To be called by the process that saves.
  //  - A complete checkpoint newer than the pointer is adopted, so is the newest one where there is no pointer.
  //  - Damaged newer ones are renamed to `<name>.damaged-k`, so is what a killed Save left, with a warning. At most one
  //    such leftover is kept. Other temporary files and `<name>.old-k` are deleted.
  //  - A missing checkpoint that the pointer names: the newest older one is adopted with a warning.
  //  - DataLoss when the checkpoint that the pointer names or the pointer itself is damaged, or when there are
  //    checkpoints but none is intact: never a silent start from scratch. The message names the file and what to do.
  absl::StatusOr<std::optional<std::string>> Recover();

  // Saves and returns the path. When an equal checkpoint of this step is there, it stays; an unequal or damaged one is
  // renamed to `<name>.old-k` or `<name>.damaged-k`. On an error nothing that was saved before is lost. That an old
  // checkpoint cannot be deleted is only a warning.
  absl::StatusOr<std::string> Save(const CheckpointData& data);

  // The checkpoint that the pointer names, verified; without a pointer the newest intact one, with a warning; nothing
  // when there is no checkpoint. Changes nothing on the disk. Looks again when another process replaces it meanwhile.
  // DataLoss as Recover. `in_memory`: the path of a checkpoint whose values the caller has, which is not read again.
  absl::StatusOr<std::optional<std::string>> LatestCheckpoint(absl::string_view in_memory = "");

  // Verifies and reads a checkpoint directory. DataLoss when it is damaged, NotFound when there is none.
  absl::StatusOr<CheckpointData> Restore(const std::string& path);

  // LatestCheckpoint and Restore, again when the checkpoint is replaced meanwhile, or deleted because newer ones were
  // saved. Nothing too when it is `in_memory`. `path`, where not null, becomes its path; empty when there is none.
  absl::StatusOr<std::optional<CheckpointData>> RestoreLatest(std::string* path = nullptr,
                                                              absl::string_view in_memory = "");

  // All checkpoint directories, oldest step first, unverified. Empty when `dir` does not exist.
  absl::StatusOr<std::vector<std::string>> ListCheckpoints();

 private:
  std::string Path(const std::string& name) const { return JoinPath(dir_, name); }
  absl::StatusOr<std::vector<int64_t>> Steps();  // ascending
  // Nothing when the file is not there.
  absl::StatusOr<std::optional<PointerFile>> ReadPointer();
  absl::Status WritePointer(int64_t step);
  // Verified, and of the step that its name says.
  absl::Status Verify(const std::string& name);
  // For readers: the path that `find` gives, verified; again when it is replaced meanwhile.
  absl::StatusOr<std::string> Verified(const std::function<absl::StatusOr<std::string>()>& find);
  absl::StatusOr<std::string> SaveInto(const CheckpointImage& image, int64_t step);
  absl::Status MoveAside(const std::string& name, const std::string& suffix);
  absl::Status ClearLeftovers(bool replaced);
  // The newest intact checkpoint, whatever the pointer would say; nothing when there is no checkpoint.
  absl::StatusOr<std::optional<std::string>> LatestWithoutPointer(absl::string_view in_memory);
  // Once for each step: who waits for checkpoints asks twice a second.
  void WarnOfLostPointer(int64_t step);
  void WarnOfDamage(int64_t step, const absl::Status& status);
  absl::Status PutBackReplaced(const std::string& name);
  // The newest intact checkpoint whose step is below `step`.
  std::optional<int64_t> NewestIntactBelow(int64_t step);
  absl::Status DamagedError(const absl::Status& damage, int64_t step);
  // Of the checkpoints on the disk, those that rotation leaves when that of `current_step` is the last that was saved.
  absl::StatusOr<std::vector<int64_t>> Left(int64_t current_step);
  void DeleteOld(int64_t current_step);

  Env* const env_;
  const std::string dir_;
  const int keep_max_;
  Protected protected_;
  double hours_ = 0;
  std::set<int64_t> warned_of_lost_pointer_, warned_of_damage_;
  // Of directories on the way to `dir` that did not exist at first: the first Save makes their creation durable,
  // whoever creates them.
  std::vector<std::string> unsynced_parents_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CHECKPOINT_CHECKPOINT_MANAGER_H_
