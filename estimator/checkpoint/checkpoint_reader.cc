#include "estimator/checkpoint/checkpoint_reader.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/nearest_name.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "estimator/checkpoint/checkpoint.h"
#include "estimator/checkpoint/checkpoint_manager.h"
#include "estimator/checkpoint/consistent_read.h"
#include "estimator/checkpoint/pointer_file.h"

namespace tandem {
namespace {

std::vector<SavedTensor> List(const SafetensorsReader& file) {
  std::vector<SavedTensor> tensors;
  for (const SafetensorsEntry& entry : file.entries()) {
    tensors.push_back({.name = entry.name, .dtype = entry.dtype, .shape = entry.shape});
    if (entry.dtype == DType::kInvalid) tensors.back().file_dtype = entry.file_dtype;
  }
  std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return tensors;
}

}  // namespace

std::string SavedTensor::TypeString() const {
  return absl::StrCat(file_dtype.empty() ? Name(dtype) : absl::string_view(file_dtype), ShapeString(shape));
}

absl::StatusOr<std::unique_ptr<CheckpointReader>> CheckpointReader::Open(Env* env, const std::string& path) {
  return ReadConsistently(
      env, kManifestName,
      [&]() -> absl::StatusOr<std::string> {
        const absl::StatusOr<FileInfo> info = env->Stat(path);
        if (!info.ok() || !info->is_directory || env->Exists(JoinPath(path, kManifestName))) return path;
        TD_ASSIGN_OR_RETURN(std::optional<std::string> latest, CheckpointManager(env, path).LatestCheckpoint());
        return std::move(latest).value_or(path);
      },
      [env](const std::string& found) { return OpenOnce(env, found); });
}

absl::StatusOr<std::unique_ptr<CheckpointReader>> CheckpointReader::OpenOnce(Env* env, const std::string& path) {
  std::unique_ptr<CheckpointReader> reader(new CheckpointReader);
  reader->path_ = path;
  TD_ASSIGN_OR_RETURN(const FileInfo info, env->Stat(path));
  if (info.is_directory) {
    TD_ASSIGN_OR_RETURN(Manifest manifest, VerifyManifest(env, path));
    reader->global_step_ = manifest.global_step;
    TD_ASSIGN_OR_RETURN(reader->variables_file_, SafetensorsReader::Open(env, JoinPath(path, kVariablesName)));
    TD_ASSIGN_OR_RETURN(reader->slots_file_, SafetensorsReader::Open(env, JoinPath(path, kSlotsName)));
    reader->slots_ = List(*reader->slots_file_);
  } else {
    TD_ASSIGN_OR_RETURN(reader->variables_file_, SafetensorsReader::Open(env, path));
  }
  reader->variables_ = List(*reader->variables_file_);
  return reader;
}

bool CheckpointReader::Contains(const std::string& name) const {
  return variables_file_->Find(name) != nullptr || (slots_file_ != nullptr && slots_file_->Find(name) != nullptr);
}

absl::StatusOr<HostTensor> CheckpointReader::Read(const std::string& name) const {
  if (slots_file_ != nullptr && slots_file_->Find(name) != nullptr) return slots_file_->Read(name);
  if (variables_file_->Find(name) != nullptr) return variables_file_->Read(name);
  std::vector<std::string> names, all;
  for (const SavedTensor& tensor : variables_) names.push_back(tensor.name);
  all = names;
  for (const SavedTensor& tensor : slots_) all.push_back(tensor.name);
  const std::string nearest = NearestName(name, all);
  for (std::string& known : names) known = PrintableLine(known);
  return absl::NotFoundError(
      absl::StrCat(path_, ": has no tensor \"", PrintableLine(name), "\"; ",
                   nearest.empty() ? "" : absl::StrCat("did you mean \"", PrintableLine(nearest), "\"? "),
                   nearest.empty() ? "it has: " : "It has: ", absl::StrJoin(names, ", ")));
}

absl::Status CompareWithModel(absl::string_view path, absl::Span<const SavedTensor> saved,
                              absl::Span<const SavedTensor> wanted) {
  // Sorts both lists by name, in whatever order they are given.
  std::map<std::string, std::pair<const SavedTensor*, const SavedTensor*>> both;
  for (const SavedTensor& tensor : saved) both[tensor.name].first = &tensor;
  for (const SavedTensor& tensor : wanted) both[tensor.name].second = &tensor;
  std::vector<std::string> differences;
  for (const auto& [raw_name, tensors] : both) {
    const std::string name = PrintableLine(raw_name);
    const auto& [in_file, in_model] = tensors;
    if (in_file == nullptr) {
      differences.push_back(
          absl::StrCat(name, ": ", in_model->TypeString(), " in the model, missing in the checkpoint"));
    } else if (in_model == nullptr) {
      differences.push_back(absl::StrCat(name, ": ", in_file->TypeString(), " in the checkpoint, not in the model"));
    } else if (in_file->dtype != in_model->dtype || in_file->shape != in_model->shape) {
      differences.push_back(absl::StrCat(name, ": ", in_file->TypeString(), " in the checkpoint, ",
                                         in_model->TypeString(), " in the model"));
    }
  }
  if (differences.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      path, ": this checkpoint is of another model (", differences.size(),
      differences.size() == 1 ? " difference" : " differences", "):\n  ", absl::StrJoin(differences, "\n  "),
      "\nUse another model_dir, or the model_fn and optimizer that the checkpoint was saved with."));
}

}  // namespace tandem
