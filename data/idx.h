// Reader of IDX, the file format of MNIST and its relatives.
#ifndef TANDEM_DATA_IDX_H_
#define TANDEM_DATA_IDX_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/host_tensor.h"

namespace tandem {

// Reads an IDX file, plain or compressed with gzip (told by its first bytes). The tensor has the file's shape; the
// element types u8, i32, f32 and f64 are kept, i8 and i16 are widened to int32.
// Errors name path and offset (in the uncompressed data): NotFound when there is no such file, PermissionDenied,
// DataLoss when it is no IDX file, truncated, damaged (gzip's checksum) or longer than its header says.
absl::StatusOr<HostTensor> ReadIdx(const std::string& path);

}  // namespace tandem

#endif  // TANDEM_DATA_IDX_H_
