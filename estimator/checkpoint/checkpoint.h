// The content of a checkpoint and its form on disk, a directory `model.ckpt-N`:
//   variables.safetensors  variables and moving statistics, by variable name
//   slots.safetensors      optimizer slots, `<variable>/Adam` and so on
//   state.json             global step, seed, what else the training loop remembers (the best-metric record)
//   attachments.safetensors  tensors of hooks, `<key>/<name>`; missing if there are none
//   iterator.state         the input pipeline's position, in examples consumed by finished steps
//   manifest.json          size and checksum of each of them (manifest.h)
// Equal content gives equal bytes in every file: none records the time or the machine.
#ifndef TANDEM_ESTIMATOR_CHECKPOINT_CHECKPOINT_H_
#define TANDEM_ESTIMATOR_CHECKPOINT_CHECKPOINT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/env.h"
#include "estimator/checkpoint/manifest.h"
#include "estimator/checkpoint/safetensors.h"

namespace tandem {

inline constexpr char kVariablesName[] = "variables.safetensors";
inline constexpr char kSlotsName[] = "slots.safetensors";
inline constexpr char kAttachmentsName[] = "attachments.safetensors";
inline constexpr char kStateName[] = "state.json";
inline constexpr char kIteratorName[] = "iterator.state";

struct CheckpointData {
  TensorMap variables;
  TensorMap slots;
  int64_t global_step = 0;  // >= 0
  uint64_t seed = 0;
  std::string iterator_state;                // the input pipeline's position; any bytes
  std::map<std::string, std::string> extra;  // UTF-8 texts by key, such as the record of the best evaluation
  TensorMap attachments;                     // tensors of hooks, by "<key>/<name>"
  std::string manifest;                      // text of the manifest, if it was read from a directory; never written
};

// A checkpoint ready to be written. Points to the tensors and does not copy them.
struct CheckpointImage {
  std::string state, iterator_state, manifest;
  SafetensorsImage variables, slots;
  std::optional<SafetensorsImage> attachments;

  // File name -> pieces of its content, the manifest last. Valid until the image is moved or destroyed.
  std::vector<std::pair<std::string, std::vector<absl::string_view>>> Files() const;
};

// `data` must outlive the image. InvalidArgument for names that are not UTF-8, empty tensors or a negative step.
absl::StatusOr<CheckpointImage> SerializeCheckpoint(const CheckpointData& data);

// Verifies every byte of the directory, then reads it; does so again if the directory is replaced meanwhile. Errors:
// those of VerifyManifest, and Unavailable if it is replaced again and again.
absl::StatusOr<CheckpointData> ReadCheckpoint(Env* env, const std::string& dir);

// Reads and checks state.json into `data`.
absl::Status ReadCheckpointState(Env* env, const std::string& dir, CheckpointData* data);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CHECKPOINT_CHECKPOINT_H_
