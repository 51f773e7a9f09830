// Reads the IDX format: a header of sizes, then numbers, big endian.
#ifndef TANDEM_DATA_FILES_IDX_FORMAT_H_
#define TANDEM_DATA_FILES_IDX_FORMAT_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/dtype.h"

namespace tandem {

struct IdxHeader {
  DType dtype = DType::kInvalid;  // type in the tensor: int8 and int16 become int32
  int64_t element_bytes = 0;      // bytes of one element in the file
  Shape shape;
  int64_t header_bytes = 0;
  int64_t data_bytes = 0;  // bytes of all elements in the file
};

// The source of a file's bytes. `read` reads the next bytes, and fewer than asked for only at the end. `damaged` makes
// the error for damage at an offset. `max_bytes` is an upper bound on the size of the uncompressed file.
struct IdxInput {
  absl::FunctionRef<absl::StatusOr<int64_t>(uint8_t* to, int64_t bytes)> read;
  absl::FunctionRef<absl::Status(int64_t offset, absl::string_view what)> damaged;
  int64_t max_bytes = 0;
};

// Reads the header at the file's beginning. Reports damage if it is no IDX file, cut off, or has a shape that the file
// cannot hold.
absl::StatusOr<IdxHeader> ReadIdxHeader(const IdxInput& input);

// Converts `count` elements of the file to those of a tensor. `from` may be `to` if both have the same element size.
void DecodeIdx(const IdxHeader& header, int64_t count, const uint8_t* from, uint8_t* to);

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_IDX_FORMAT_H_
