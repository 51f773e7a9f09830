#include "estimator/checkpoint/write_checkpoint.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/temporary_name.h"
#include "estimator/checkpoint/pointer_file.h"

namespace tandem {

absl::Status WriteNewCheckpoint(Env* env, const std::string& path, const CheckpointData& data) {
  const std::string name = BaseName(path), parent = DirName(path);
  if (path.empty()) return absl::InvalidArgumentError("an empty path: cannot write a checkpoint; give it a name");
  const std::optional<int64_t> step = CheckpointStep(name);
  if (step.has_value() && *step != data.global_step) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": the checkpoint is of step ", data.global_step, "; call it ",
                                                   CheckpointName(data.global_step), ", or by a name without a step"));
  }
  if (env->Exists(path)) {
    return absl::AlreadyExistsError(absl::StrCat(path, ": is there already; delete it, or choose another name"));
  }
  TD_ASSIGN_OR_RETURN(const CheckpointImage image, SerializeCheckpoint(data));
  TD_RETURN_IF_ERROR(env->CreateDirs(parent));
  const std::string temporary = TemporaryPath(env, path);
  absl::Status status = env->CreateDir(temporary);
  for (const auto& [file, pieces] : image.Files()) {
    if (status.ok()) status = env->WriteNewFile(JoinPath(temporary, file), pieces);
  }
  if (status.ok()) status = env->SyncDir(temporary);
  if (status.ok()) status = env->Rename(temporary, JoinPath(parent, name));
  if (!status.ok()) {
    env->DeleteRecursively(temporary).IgnoreError();  // gives back the space if the disk is full
    return status;
  }
  return env->SyncDir(parent);
}

}  // namespace tandem
