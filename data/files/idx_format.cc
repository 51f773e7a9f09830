#include "data/files/idx_format.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

// The size of one element in an IDX file, in bytes, and the type that it gets in a tensor.
struct ElementType {
  int bytes;
  DType dtype;
};

std::optional<ElementType> TypeOfCode(uint8_t code) {
  switch (code) {
    case 0x08:
      return ElementType{1, DType::kUInt8};
    case 0x09:
      return ElementType{1, DType::kInt32};
    case 0x0B:
      return ElementType{2, DType::kInt32};
    case 0x0C:
      return ElementType{4, DType::kInt32};
    case 0x0D:
      return ElementType{4, DType::kFloat32};
    case 0x0E:
      return ElementType{8, DType::kFloat64};
  }
  return std::nullopt;
}

uint32_t BigEndian32(const uint8_t* p) {
  return uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | uint32_t{p[3]};
}

}  // namespace

absl::StatusOr<IdxHeader> ReadIdxHeader(const IdxInput& input) {
  uint8_t magic[4];
  TD_ASSIGN_OR_RETURN(int64_t n, input.read(magic, 4));
  if (n < 4) return input.damaged(n, "the file ends within the 4 bytes of the magic number");
  const std::optional<ElementType> type = TypeOfCode(magic[2]);
  if (magic[0] != 0 || magic[1] != 0 || !type.has_value()) {
    return input.damaged(0, absl::StrFormat("the magic number is %02x%02x%02x%02x; an IDX file begins with 0000, a "
                                            "type (08, 09, 0b, 0c, 0d, 0e) and the number of dimensions",
                                            magic[0], magic[1], magic[2], magic[3]));
  }
  IdxHeader header;
  header.dtype = type->dtype;
  header.element_bytes = type->bytes;
  header.header_bytes = 4;
  // The product of all sizes except those that are 0. It must not overflow even if a 0 makes the array empty.
  int64_t product = 1;
  bool has_zero = false, too_large = false;
  for (int d = 0; d < magic[3]; ++d) {
    uint8_t bytes[4];
    TD_ASSIGN_OR_RETURN(n, input.read(bytes, 4));
    header.header_bytes += n;
    if (n < 4) {
      return input.damaged(header.header_bytes,
                           absl::StrCat("the file ends within the sizes of its ", magic[3], " dimensions"));
    }
    const int64_t size = BigEndian32(bytes);
    header.shape.push_back(size);
    if (size == 0) {
      has_zero = true;
    } else if (product > INT64_MAX / 8 / size) {
      too_large = true;
    } else {
      product *= size;
    }
  }
  header.data_bytes = has_zero ? 0 : product * type->bytes;
  if (too_large || header.data_bytes > input.max_bytes) {
    return input.damaged(header.header_bytes,
                         absl::StrCat("the header promises elements of shape ", ShapeString(header.shape),
                                      ", more than the file can hold (at most ", input.max_bytes, " bytes)"));
  }
  return header;
}

void DecodeIdx(const IdxHeader& header, int64_t count, const uint8_t* from, uint8_t* to) {
  const int64_t bytes = header.element_bytes;
  if (bytes < SizeOf(header.dtype)) {  // int8 or int16, which become int32
    for (int64_t i = 0; i < count; ++i) {
      const int32_t value =
          bytes == 1 ? static_cast<int8_t>(from[i]) : static_cast<int16_t>(from[2 * i] << 8 | from[2 * i + 1]);
      std::memcpy(to + i * sizeof value, &value, sizeof value);
    }
    return;
  }
  if (from != to && count > 0) std::memcpy(to, from, count * bytes);
  for (int64_t i = 0; bytes > 1 && i < count; ++i, to += bytes) std::reverse(to, to + bytes);
}

}  // namespace tandem
