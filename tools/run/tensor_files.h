// Reads and writes named tensors in the files given by --inputs and --outputs.
#ifndef TANDEM_TOOLS_RUN_TENSOR_FILES_H_
#define TANDEM_TOOLS_RUN_TENSOR_FILES_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/host_tensor.h"

namespace tandem {

// Reads a .npz or .safetensors file, recognised by its name, or a .npy file, whose one array gets the name
// `single_name`. InvalidArgument for a .npy file if that is empty.
absl::StatusOr<std::map<std::string, HostTensor>> ReadTensorFile(const std::string& path,
                                                                 const std::string& single_name);

// Writes a .npz file if the path ends with ".npz", otherwise a safetensors file.
absl::Status WriteTensorFile(const std::string& path, const std::map<std::string, HostTensor>& tensors);

}  // namespace tandem

#endif  // TANDEM_TOOLS_RUN_TENSOR_FILES_H_
