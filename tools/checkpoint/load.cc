#include "tools/checkpoint/load.h"

#include <memory>

#include "base/status_macros.h"
#include "estimator/checkpoint/checkpoint_reader.h"
#include "estimator/checkpoint/consistent_read.h"

namespace tandem {

absl::StatusOr<CheckpointData> LoadCheckpoint(Env* env, const std::string& path) {
  std::unique_ptr<CheckpointReader> reader;
  return ReadConsistently(
      env, kManifestName,
      [&]() -> absl::StatusOr<std::string> {
        TD_ASSIGN_OR_RETURN(reader, CheckpointReader::Open(env, path));
        return reader->path();
      },
      [&](const std::string& found) -> absl::StatusOr<CheckpointData> {
        if (reader->global_step().has_value()) return ReadCheckpoint(env, found);
        CheckpointData data;
        for (const SavedTensor& tensor : reader->variables()) {
          TD_ASSIGN_OR_RETURN(data.variables[tensor.name], reader->Read(tensor.name));
        }
        return data;
      });
}

bool IsSlotName(const std::string& name, const TensorMap& names) {
  for (size_t slash = name.rfind('/'); slash != std::string::npos && slash > 0; slash = name.rfind('/', slash - 1)) {
    if (names.contains(name.substr(0, slash))) return true;
  }
  return false;
}

}  // namespace tandem
