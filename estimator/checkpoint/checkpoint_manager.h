// CheckpointManager: saves and finds the checkpoints of a model directory. At every moment, whatever is killed, the
// newest finished checkpoint can be restored.
//
// Save: write a temporary directory, fsync each file, rename to `model.ckpt-N`, fsync the directory, replace the
// pointer file `checkpoint` (pointer_file.h), and only then delete old checkpoints. One process at a time may save into
// a directory, the one that holds its lock (estimator/checkpoint/model_dir.h); any number may read.
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

  // Keeps some checkpoints besides the newest ones. `of` gets the steps of all checkpoints, oldest first, and returns
  // those to keep. It is called at every Save, on Save's thread. If it returns an error, nothing is deleted.
  using Protected = std::function<absl::StatusOr<std::set<int64_t>>(const std::vector<int64_t>& steps)>;
  void set_protected(Protected of) { protected_ = std::move(of); }
  // Also keeps one checkpoint of every `hours` hours (kept_by_hours.h). With 0, only those are kept that were kept for
  // this reason before.
  void set_keep_every_n_hours(double hours) { hours_ = hours; }

  // Tidies the directory before training begins. Returns the checkpoint to go on from, verified, or nothing if the
  // directory has none (it need not exist). Must be called by the process that saves.
  //  - Goes on from a complete checkpoint newer than the pointer, or from the newest one if there is no pointer.
  //  - Renames damaged newer ones, and what a killed Save has left, to `<name>.damaged-k`, with a warning. At most one
  //    leftover of a Save is kept. Deletes other temporary files and `<name>.old-k`.
  //  - If the checkpoint that the pointer names is missing, goes on from the newest older one, with a warning.
  //  - DataLoss if the pointer or the checkpoint that it names is damaged, or if there are checkpoints but none is
  //    intact: training never starts from scratch silently. The message names the file and what to do.
  absl::StatusOr<std::optional<std::string>> Recover();

  // Saves and returns the path. If there is an equal checkpoint of this step, it stays; an unequal or damaged one is
  // renamed to `<name>.old-k` or `<name>.damaged-k`. After an error everything saved before is intact. If an old
  // checkpoint cannot be deleted, that is only a warning.
  absl::StatusOr<std::string> Save(const CheckpointData& data);

  // Returns the checkpoint that the pointer names, verified; without a pointer the newest intact one, with a warning;
  // nothing if there is no checkpoint. Changes nothing on the disk. Looks again if another process replaces it
  // meanwhile. DataLoss as from Recover. `in_memory` is the path of a checkpoint whose values the caller has; it is not
  // read again.
  absl::StatusOr<std::optional<std::string>> LatestCheckpoint(absl::string_view in_memory = "");

  // Verifies and reads a checkpoint directory. DataLoss if it is damaged, NotFound if it does not exist.
  absl::StatusOr<CheckpointData> Restore(const std::string& path);

  // LatestCheckpoint and Restore together; tries again if the checkpoint is replaced meanwhile, or deleted because
  // newer ones were saved. Also returns nothing if the checkpoint is `in_memory`. Sets `path`, if it is not null, to
  // the checkpoint's path, or to "" if there is none.
  absl::StatusOr<std::optional<CheckpointData>> RestoreLatest(std::string* path = nullptr,
                                                              absl::string_view in_memory = "");

  // Returns all checkpoint directories, oldest step first, unverified. Empty if `dir` does not exist.
  absl::StatusOr<std::vector<std::string>> ListCheckpoints();

 private:
  std::string Path(const std::string& name) const { return JoinPath(dir_, name); }
  absl::StatusOr<std::vector<int64_t>> Steps();  // in ascending order
  // Returns nothing if the file does not exist.
  absl::StatusOr<std::optional<PointerFile>> ReadPointer();
  absl::Status WritePointer(int64_t step);
  // Verifies the checkpoint, and that it is of the step in its name.
  absl::Status Verify(const std::string& name);
  // For readers: verifies the path that `find` returns, and returns it; tries again if it is replaced meanwhile.
  absl::StatusOr<std::string> Verified(const std::function<absl::StatusOr<std::string>()>& find);
  absl::StatusOr<std::string> SaveInto(const CheckpointImage& image, int64_t step);
  absl::Status MoveAside(const std::string& name, const std::string& suffix);
  absl::Status ClearLeftovers(bool replaced);
  // Returns the newest intact checkpoint without looking at the pointer; nothing if there is no checkpoint.
  absl::StatusOr<std::optional<std::string>> LatestWithoutPointer(absl::string_view in_memory);
  // Warns once for each step, since programs that wait for checkpoints look twice a second.
  void WarnOfLostPointer(int64_t step);
  void WarnOfDamage(int64_t step, const absl::Status& status);
  absl::Status PutBackReplaced(const std::string& name);
  // Returns the newest intact checkpoint whose step is below `step`.
  std::optional<int64_t> NewestIntactBelow(int64_t step);
  absl::Status DamagedError(const absl::Status& damage, int64_t step);
  // Returns the checkpoints that remain once old ones are deleted, if the checkpoint of `current_step` is the one saved
  // last.
  absl::StatusOr<std::vector<int64_t>> Left(int64_t current_step);
  void DeleteOld(int64_t current_step);

  Env* const env_;
  const std::string dir_;
  const int keep_max_;
  Protected protected_;
  double hours_ = 0;
  std::set<int64_t> warned_of_lost_pointer_, warned_of_damage_;
  // Directories on the path to `dir` whose child on this path did not exist when this object was made. The first Save
  // syncs them, whoever has created the children, so that the path survives a crash of the machine.
  std::vector<std::string> unsynced_parents_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CHECKPOINT_CHECKPOINT_MANAGER_H_
