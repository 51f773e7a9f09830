// CheckpointReader: names, types, shapes and single values in a checkpoint. For inspection and for warm starts.
#ifndef TANDEM_ESTIMATOR_CHECKPOINT_CHECKPOINT_READER_H_
#define TANDEM_ESTIMATOR_CHECKPOINT_CHECKPOINT_READER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/dtype.h"
#include "base/env.h"
#include "base/host_tensor.h"
#include "estimator/checkpoint/safetensors.h"

namespace tandem {

// A tensor that a checkpoint has or a model wants.
struct SavedTensor {
  std::string name;
  DType dtype = DType::kInvalid;
  Shape shape;
  // The name that the file gives to an element type which Tandem lacks ("BF16"). Such a tensor cannot be read.
  std::string file_dtype = "";

  std::string TypeString() const;  // Returns type and shape, for example "float32[3,3,1,32]".
};

// Thread-safe.
class CheckpointReader {
 public:
  // `path` is a checkpoint directory, a model directory (its newest checkpoint is opened), or a single .safetensors
  // file. Directories are verified byte by byte, again if one is replaced meanwhile. What was opened can be read even
  // if it is replaced or deleted. Errors: NotFound, DataLoss, Unavailable if it is replaced again and again, those of
  // reading.
  static absl::StatusOr<std::unique_ptr<CheckpointReader>> Open(Env* env, const std::string& path);

  // The checkpoint directory or file that was opened.
  const std::string& path() const { return path_; }
  // Sorted by name. All tensors of a single file count as variables.
  const std::vector<SavedTensor>& variables() const { return variables_; }
  const std::vector<SavedTensor>& slots() const { return slots_; }
  // The checkpoint's global step; not set for a single file.
  std::optional<int64_t> global_step() const { return global_step_; }

  // True if a variable or a slot has this name.
  bool Contains(const std::string& name) const;
  // NotFound, with all names of the file, for an unknown name; otherwise as SafetensorsReader::Read.
  absl::StatusOr<HostTensor> Read(const std::string& name) const;

 private:
  CheckpointReader() = default;
  static absl::StatusOr<std::unique_ptr<CheckpointReader>> OpenOnce(Env* env, const std::string& path);

  std::string path_;
  std::unique_ptr<SafetensorsReader> variables_file_, slots_file_;
  std::vector<SavedTensor> variables_, slots_;
  std::optional<int64_t> global_step_;
};

// Compares the tensors of the checkpoint at `path` with those that a model wants. FailedPrecondition lists all
// differences, one per line: missing, not in the model, another shape or type.
absl::Status CompareWithModel(absl::string_view path, absl::Span<const SavedTensor> saved,
                              absl::Span<const SavedTensor> wanted);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CHECKPOINT_CHECKPOINT_READER_H_
