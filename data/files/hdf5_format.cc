#include "data/files/hdf5_format.h"

namespace tandem::hdf5 {

bool IsUtf8(absl::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const uint8_t first = static_cast<uint8_t>(text[i]);
    if (first < 0x80) {
      ++i;
      continue;
    }
    const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || length > text.size() - i) return false;
    uint32_t point = first & (0x7f >> length);
    for (size_t k = 1; k < length; ++k) {
      const uint8_t byte = static_cast<uint8_t>(text[i + k]);
      if ((byte & 0xc0) != 0x80) return false;
      point = point << 6 | (byte & 0x3f);
    }
    // Rejects encodings that are too long, halves of surrogate pairs, and code points beyond the last.
    if (length == 3 && (point < 0x800 || (point >= 0xd800 && point < 0xe000))) return false;
    if (length == 4 && (point < 0x10000 || point > 0x10ffff)) return false;
    i += length;
  }
  return true;
}

}  // namespace tandem::hdf5
