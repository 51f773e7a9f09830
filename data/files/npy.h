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
#include "base/host_tensor.h"

namespace tandem {

struct NpyOptions {
  // A larger array is an error, however much memory there is. In bytes.
  int64_t max_bytes = int64_t{16} << 30;
};

// Reads an array in row-major order, also one that was written in Fortran's. float32, float64, int32, int64, uint8 and
// bool are kept, in either byte order; int8, int16 and uint16 become int32, uint32 int64, float16 float32. Others are
// an error: Python objects above all, which are programs, and strings, complex numbers and uint64. Errors name the path
// and, of an archive, the array: those of InputFile::Open; DataLoss when it is no such file, is damaged or has another
// size than its header says, which is compared before memory is taken.
absl::StatusOr<HostTensor> ReadNpy(const std::string& path, const NpyOptions& options = {});

// The arrays of an archive in their order in the file, stored or deflated, by their names without ".npy". Checksums are
// compared. Entries of other kinds of files are an error.
absl::StatusOr<std::vector<std::pair<std::string, HostTensor>>> ReadNpz(const std::string& path,
                                                                        const NpyOptions& options = {});

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_NPY_H_
