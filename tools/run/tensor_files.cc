#include "tools/run/tensor_files.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/env.h"
#include "base/status_macros.h"
#include "data/files/npy.h"
#include "data/files/write_npz.h"
#include "estimator/checkpoint/safetensors.h"

namespace tandem {

absl::StatusOr<std::map<std::string, HostTensor>> ReadTensorFile(const std::string& path,
                                                                 const std::string& single_name) {
  std::map<std::string, HostTensor> tensors;
  if (absl::EndsWith(path, ".npz")) {
    TD_ASSIGN_OR_RETURN(auto arrays, ReadNpz(path));
    for (auto& [name, array] : arrays) tensors[name] = std::move(array);
    return tensors;
  }
  if (!absl::EndsWith(path, ".npy")) return ReadSafetensors(Env::Default(), path);
  if (single_name.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is one array without a name, and the model has several inputs; give a .npz file"));
  }
  TD_ASSIGN_OR_RETURN(tensors[single_name], ReadNpy(path));
  return tensors;
}

absl::Status WriteTensorFile(const std::string& path, const std::map<std::string, HostTensor>& tensors) {
  if (absl::EndsWith(path, ".npz")) {
    TD_ASSIGN_OR_RETURN(const std::string bytes, SerializeNpz(tensors));
    return Env::Default()->WriteFileAtomically(path, bytes);
  }
  TD_ASSIGN_OR_RETURN(const SafetensorsImage image, SerializeSafetensors(tensors));
  return Env::Default()->WriteFileAtomically(path, absl::StrJoin(image.Pieces(), ""));
}

}  // namespace tandem
