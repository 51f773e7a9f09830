// NumPy's files: .npy, one array, and .npz, a zip archive of named arrays.
//
//   TD_ASSIGN_OR_RETURN(auto arrays, ReadNpz("train.npz"));
//   Dataset train = Dataset::FromTensorSlices(std::move(arrays));
#ifndef TANDEM_DATA_FILES_NPY_H_
#define TANDEM_DATA_FILES_NPY_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tandem/base/api.h"
#include "tandem/base/host_tensor.h"

namespace TANDEM_API tandem {

struct NpyOptions {
  // A larger array is an error, even if there is memory for it. In bytes.
  int64_t max_bytes = int64_t{16} << 30;
};

// Reads an array in row-major order, also one that was written in Fortran's order. float32, float64, int32, int64,
// uint8 and bool are kept, in either byte order; int8, int16 and uint16 become int32, uint32 becomes int64, float16
// becomes float32. Other types are an error: above all Python objects, which are programs, and strings, complex numbers
// and uint64. Errors name the path and, for an archive, the array: those of InputFile::Open; DataLoss when it is no
// such file, is damaged, or has another size than its header says, which is checked before memory is allocated.
absl::StatusOr<HostTensor> ReadNpy(const std::string& path, const NpyOptions& options = {});

// Reads the arrays of an archive, stored or deflated, in their order in the file, by their names without ".npy".
// Checksums are compared. An entry that is no .npy file is an error.
absl::StatusOr<std::vector<std::pair<std::string, HostTensor>>> ReadNpz(const std::string& path,
                                                                        const NpyOptions& options = {});

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_NPY_H_
