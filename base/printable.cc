#include "base/printable.h"

#include <cstdint>

#include "absl/strings/str_format.h"

namespace tandem {
namespace {

// Returns the length of the UTF-8 character at the beginning of `text`, and its code point; 0 if there is none.
size_t DecodeUtf8(absl::string_view text, uint32_t* code_point) {
  const uint8_t first = static_cast<uint8_t>(text[0]);
  const size_t length = first < 0x80   ? 1
                        : first < 0xc2 ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                        : first < 0xf5 ? 4
                                       : 0;
  if (length == 0 || length > text.size()) return 0;
  uint32_t value = length == 1 ? first : first & (0x7f >> length);
  for (size_t i = 1; i < length; ++i) {
    const uint8_t byte = static_cast<uint8_t>(text[i]);
    if ((byte & 0xc0) != 0x80) return 0;
    value = value << 6 | (byte & 0x3f);
  }
  // Rejects encodings that are too long, halves of surrogate pairs, and code points beyond the last.
  if ((length == 3 && value < 0x800) || (length == 4 && value < 0x10000) || (value >= 0xd800 && value < 0xe000) ||
      value > 0x10ffff) {
    return 0;
  }
  *code_point = value;
  return length;
}

std::string Escaped(absl::string_view text, bool line) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    uint32_t c = 0;
    const size_t length = DecodeUtf8(text, &c);
    const bool layout = (c == '\n' || c == '\t') && !line;
    const bool control = (c < 0x20 && !layout) || (c >= 0x7f && c < 0xa0);
    const size_t taken = length == 0 ? 1 : length;
    if (length == 0 || control) {
      for (char byte : text.substr(0, taken)) absl::StrAppendFormat(&result, "\\x%02x", static_cast<uint8_t>(byte));
    } else {
      result.append(text.data(), taken);
    }
    text.remove_prefix(taken);
  }
  return result;
}

}  // namespace

std::string Printable(absl::string_view text) { return Escaped(text, /*line=*/false); }
std::string PrintableLine(absl::string_view text) { return Escaped(text, /*line=*/true); }

}  // namespace tandem
