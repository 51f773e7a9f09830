// The framing of a TFRecord file: for each record
//   length (8 bytes) | masked CRC-32C of these 8 bytes (4) | the record's bytes | masked CRC-32C of them (4)
// all numbers little endian, without a header or an end of the file (tensorflow/core/lib/io/record_writer.h).
#ifndef TANDEM_DATA_FILES_RECORD_FORMAT_H_
#define TANDEM_DATA_FILES_RECORD_FORMAT_H_

#include <cstdint>
#include <cstring>

#include "absl/strings/string_view.h"
#include "base/crc32c.h"

namespace tandem::record_format {

inline constexpr int64_t kHeaderBytes = 12;
inline constexpr int64_t kFooterBytes = 4;

// A checksum of data that contains checksums is weak, so stored checksums are rotated and an offset is added.
inline uint32_t MaskedCrc(absl::string_view bytes) {
  const uint32_t crc = Crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

template <typename T>
T LoadLittleEndian(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));  // needs no byte swap, because Tandem runs on little-endian machines only
  return value;
}

template <typename T>
void StoreLittleEndian(T value, void* to) {
  std::memcpy(to, &value, sizeof(T));
}

// The sizes of a record's header and footer, in bytes.
struct Frame {
  explicit Frame(absl::string_view bytes) {
    StoreLittleEndian<uint64_t>(bytes.size(), header);
    StoreLittleEndian<uint32_t>(MaskedCrc(absl::string_view(header, 8)), header + 8);
    StoreLittleEndian<uint32_t>(MaskedCrc(bytes), footer);
  }
  char header[kHeaderBytes], footer[kFooterBytes];
};

}  // namespace tandem::record_format

#endif  // TANDEM_DATA_FILES_RECORD_FORMAT_H_
