// The IDX format: a header of sizes, then numbers, big endian.
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
  DType dtype = DType::kInvalid;  // of the tensor: int8 and int16 become int32
  int64_t element_bytes = 0;      // in the file
  Shape shape;
  int64_t header_bytes = 0;
  int64_t data_bytes = 0;  // in the file
};

// What is read from, by its functions: the next bytes, as many as there are; an error at an offset; and the most bytes
// that the file can have altogether.
struct IdxInput {
  absl::FunctionRef<absl::StatusOr<int64_t>(uint8_t* to, int64_t bytes)> read;
  absl::FunctionRef<absl::Status(int64_t offset, absl::string_view what)> damaged;
  int64_t max_bytes = 0;
};

// Reads the header, at the file's beginning. Damage: no IDX file, cut off, or a shape that the file cannot hold.
absl::StatusOr<IdxHeader> ReadIdxHeader(const IdxInput& input);

// `count` elements as the file has them to those of a tensor. `from` may be `to` where both are of one size.
void DecodeIdx(const IdxHeader& header, int64_t count, const uint8_t* from, uint8_t* to);

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_IDX_FORMAT_H_
