// NamedTensors: host tensors by name, such as predictions, features and arrays of files.
#ifndef TANDEM_BASE_NAMED_TENSORS_H_
#define TANDEM_BASE_NAMED_TENSORS_H_

#include <map>
#include <string>

#include "tandem/base/api.h"
#include "tandem/base/host_tensor.h"

namespace TANDEM_API tandem {

// A tensor for each name, sorted by the names.
using NamedTensors = std::map<std::string, HostTensor>;

}  // namespace tandem

#endif  // TANDEM_BASE_NAMED_TENSORS_H_
