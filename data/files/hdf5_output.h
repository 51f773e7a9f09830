// Appends little-endian numbers and text to a string.
#ifndef TANDEM_DATA_FILES_HDF5_OUTPUT_H_
#define TANDEM_DATA_FILES_HDF5_OUTPUT_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace tandem::hdf5 {

class Output {
 public:
  Output& U8(uint8_t value) { return Number(value, 1); }
  Output& U16(uint16_t value) { return Number(value, 2); }
  Output& U32(uint32_t value) { return Number(value, 4); }
  Output& U64(uint64_t value) { return Number(value, 8); }
  Output& Text(absl::string_view text) {
    bytes_.append(text.data(), text.size());
    return *this;
  }
  // Appends the text, padded with zeros to a multiple of 8 bytes.
  Output& Padded(absl::string_view text) { return Text(text).Zeros((8 - text.size() % 8) % 8); }
  Output& Zeros(size_t count) {
    bytes_.append(count, '\0');
    return *this;
  }

  size_t size() const { return bytes_.size(); }
  const std::string& bytes() const { return bytes_; }
  std::string Take() { return std::move(bytes_); }

 private:
  Output& Number(uint64_t value, int width) {
    for (int i = 0; i < width; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i) & 0xff));
    return *this;
  }

  std::string bytes_;
};

}  // namespace tandem::hdf5

#endif  // TANDEM_DATA_FILES_HDF5_OUTPUT_H_
