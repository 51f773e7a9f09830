// Numbers and names of the HDF5 file format that its reader and its writer share, and access to bytes of a file.
// Format: "HDF5 File Format Specification", version 3.0, of The HDF Group.
#ifndef TANDEM_DATA_FILES_HDF5_FORMAT_H_
#define TANDEM_DATA_FILES_HDF5_FORMAT_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace tandem::hdf5 {

inline constexpr absl::string_view kSignature("\x89HDF\r\n\x1a\n", 8);
// The address that the format uses for "undefined".
inline constexpr uint64_t kNowhere = ~uint64_t{0};

// Kinds of messages in an object header.
enum MessageKind : uint16_t {
  kNil = 0x00,
  kDataspace = 0x01,
  kLinkInfo = 0x02,
  kDatatype = 0x03,
  kFillValue = 0x05,
  kLink = 0x06,
  kExternalFiles = 0x07,
  kLayout = 0x08,
  kFilters = 0x0B,
  kAttribute = 0x0C,
  kContinuation = 0x10,
  kSymbolTable = 0x11,
  kAttributeInfo = 0x15,
};

enum DatatypeClass : uint8_t { kInteger = 0, kFloat = 1, kString = 3, kOpaque = 5, kEnumeration = 8, kVariable = 9 };

enum LayoutClass : uint8_t { kCompact = 0, kContiguous = 1, kChunked = 2, kVirtual = 3 };

// The format's description of a floating point type: the position of its bits.
struct FloatLayout {
  uint32_t size;  // in bytes
  uint8_t sign;   // the number of the sign bit
  uint8_t exponent_at, exponent_bits;
  uint8_t mantissa_bits;
  uint32_t bias;
};
// The floating point types of IEEE 754 (32, 64 and 16 bits), and bfloat16.
inline constexpr FloatLayout kFloatLayouts[] = {
    {4, 31, 23, 8, 23, 127}, {8, 63, 52, 11, 52, 1023}, {2, 15, 10, 5, 10, 15}, {2, 15, 7, 8, 7, 127}};
inline constexpr FloatLayout kBFloat16Layout = kFloatLayouts[3];

// The most bytes of a header message: the format stores the size in 16 bits, and it is a multiple of 8.
inline constexpr int64_t kMaxMessage = 65528;
inline constexpr int64_t kMaxName = 4096;  // the most bytes of a link's name
inline constexpr int64_t kMaxDepth = 64;   // the most levels of nested groups
inline constexpr int64_t kMaxObjects = 1 << 20;
inline constexpr int64_t kMaxRank = 32;
inline constexpr uint32_t kMaxFixedString = 1 << 20;

// Keras stores bfloat16 as an opaque type of HDF5, and marks such data sets with the attribute "dtype" = "bfloat16".
inline constexpr absl::string_view kKerasType = "dtype", kKerasBFloat16 = "bfloat16";

// A view of bytes of a file. Reads beyond the end of the view give 0, and ok() is false from then on.
class Bytes {
 public:
  Bytes() = default;
  // `offset` is the position of the first byte in the file.
  Bytes(absl::string_view bytes, uint64_t offset) : bytes_(bytes), offset_(offset) {}

  bool ok() const { return ok_; }
  uint64_t size() const { return bytes_.size(); }
  uint64_t offset(uint64_t at = 0) const { return offset_ + at; }

  // Returns a little-endian number of `width` <= 8 bytes.
  uint64_t Number(uint64_t at, uint64_t width) {
    const absl::string_view bytes = Text(at, width);
    uint64_t value = 0;
    for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
    return value;
  }
  uint8_t U8(uint64_t at) { return static_cast<uint8_t>(Number(at, 1)); }
  uint16_t U16(uint64_t at) { return static_cast<uint16_t>(Number(at, 2)); }
  uint32_t U32(uint64_t at) { return static_cast<uint32_t>(Number(at, 4)); }
  uint64_t U64(uint64_t at) { return Number(at, 8); }

  absl::string_view Text(uint64_t at, uint64_t size) {
    if (at > bytes_.size() || size > bytes_.size() - at) {
      ok_ = false;
      return {};
    }
    return bytes_.substr(at, size);
  }
  // Returns `size` bytes from `at` on, or all bytes up to the end if no size is passed.
  Bytes Part(uint64_t at, uint64_t size) {
    Bytes part(Text(at, size), offset_ + at);
    part.ok_ = ok_;
    return part;
  }
  Bytes Part(uint64_t at) { return Part(at, at > size() ? 1 : size() - at); }

 private:
  absl::string_view bytes_;
  uint64_t offset_ = 0;
  bool ok_ = true;
};

inline constexpr uint64_t RoundUpTo8(uint64_t n) { return (n + 7) / 8 * 8; }

// True if all of `text` is UTF-8.
bool IsUtf8(absl::string_view text);

}  // namespace tandem::hdf5

#endif  // TANDEM_DATA_FILES_HDF5_FORMAT_H_
