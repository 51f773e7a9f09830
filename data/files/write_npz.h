// Writes .npz files, archives of named arrays that NumPy reads: numpy.load(path)["dense/kernel"].
#ifndef TANDEM_DATA_FILES_WRITE_NPZ_H_
#define TANDEM_DATA_FILES_WRITE_NPZ_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tandem/base/api.h"
#include "tandem/base/host_tensor.h"

namespace TANDEM_API tandem {

// Returns the bytes of an uncompressed archive, as numpy.savez writes it. Equal arrays give equal bytes: no time is
// stored. InvalidArgument for an empty tensor, one of strings, and a name that an archive cannot have.
absl::StatusOr<std::string> SerializeNpz(const std::map<std::string, HostTensor>& arrays);

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_WRITE_NPZ_H_
