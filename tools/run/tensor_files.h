// Tensors by name in the files that --inputs and --outputs name.
#ifndef TANDEM_TOOLS_RUN_TENSOR_FILES_H_
#define TANDEM_TOOLS_RUN_TENSOR_FILES_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/host_tensor.h"

namespace tandem {

// A .npz or .safetensors file, by its name. A .npy file has one array, which gets `single_name`; InvalidArgument where
// that is empty.
absl::StatusOr<std::map<std::string, HostTensor>> ReadTensorFile(const std::string& path,
                                                                 const std::string& single_name);

// A .npz file where the name ends so, else a safetensors file.
absl::Status WriteTensorFile(const std::string& path, const std::map<std::string, HostTensor>& tensors);

}  // namespace tandem

#endif  // TANDEM_TOOLS_RUN_TENSOR_FILES_H_
