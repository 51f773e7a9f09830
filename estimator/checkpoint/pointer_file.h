// The file `checkpoint` of a model directory says which checkpoint is the newest. It is a text proto as TensorFlow
// writes it, with names relative to the directory so that it can be moved, and a checksum in a comment:
//   model_checkpoint_path: "model.ckpt-200"
//   all_model_checkpoint_paths: "model.ckpt-100"
//   all_model_checkpoint_paths: "model.ckpt-200"
//   # crc32c: 1a2b3c4d
#ifndef TANDEM_ESTIMATOR_CHECKPOINT_POINTER_FILE_H_
#define TANDEM_ESTIMATOR_CHECKPOINT_POINTER_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem {

inline constexpr char kPointerName[] = "checkpoint";
inline constexpr char kCheckpointPrefix[] = "model.ckpt-";

// Returns, for example, "model.ckpt-200".
std::string CheckpointName(int64_t global_step);
// Returns the step of a name made by CheckpointName; nothing for other names.
std::optional<int64_t> CheckpointStep(absl::string_view name);

struct PointerFile {
  std::string latest;            // name of the newest checkpoint: "model.ckpt-200"
  std::vector<std::string> all;  // names of all checkpoints, oldest first

  std::string Text() const;
};

// Parses what Text() writes. The line with the checksum may be missing, for those who edit the file by hand. DataLoss
// if the text is malformed, does not match its checksum, or names anything but checkpoints of this directory. `path` is
// for messages.
absl::StatusOr<PointerFile> ParsePointerFile(absl::string_view text, const std::string& path);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CHECKPOINT_POINTER_FILE_H_
