#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace tandem::fuzz {
namespace {

// Where sizes, counts and offsets go wrong.
constexpr uint64_t kNumbers[] = {0,          1,          2,          3,          7,          8,
                                 127,        128,        255,        256,        1000,       4096,
                                 65535,      65536,      1u << 30,   0x7fffffff, 0x80000000, 0xffffffff,
                                 1ull << 32, 1ull << 40, 1ull << 60, ~0ull,      ~0ull >> 1, 1ull << 63};
const char* const kTexts[] = {"0",    "-1",   "1e999",   "9223372036854775808",
                              "{",    "}",    "[",       "]",
                              "\"",   ":",    ",",       "\n",
                              "<",    ">",    "%s",      "nan",
                              "null", "true", "\\u0000", "../",
                              "\xff"};

}  // namespace

std::string Mutator::Mutate(std::string input, const std::string& other, size_t max_bytes) {
  for (size_t changes = 1 + Below(6) * Below(2); changes > 0; --changes) Change(input, other);
  if (input.size() > max_bytes) input.resize(max_bytes);
  return input;
}

void Mutator::Change(std::string& bytes, const std::string& other) {
  const size_t at = Below(bytes.size() + 1), rest = bytes.size() - at;
  const size_t piece = std::min(rest, 1 + Below(Below(8) == 0 ? 512 : 16));
  switch (Below(10)) {
    case 0:
      if (rest > 0) bytes[at] ^= static_cast<char>(1 << Below(8));
      return;
    case 1:
      if (rest > 0) bytes[at] = static_cast<char>(random_());
      return;
    case 2:  // a number, little or big endian
    {
      uint64_t number = kNumbers[Below(std::size(kNumbers))];
      const size_t width = size_t{1} << Below(4);
      if (Below(2)) number = width == 8 ? __builtin_bswap64(number) : __builtin_bswap32(static_cast<uint32_t>(number));
      std::memcpy(bytes.data() + at, &number, std::min(rest, width));
      return;
    }
    case 3:  // a little more or less
      if (rest > 0) bytes[at] = static_cast<char>(bytes[at] + static_cast<char>(Below(9)) - 4);
      return;
    case 4:
      bytes.erase(at, piece);
      return;
    case 5:
      bytes.insert(at, bytes.substr(at, piece));
      return;
    case 6:
      bytes.insert(at, std::string(1 + Below(8), static_cast<char>(random_())));
      return;
    case 7:
      bytes.insert(at, kTexts[Below(std::size(kTexts))]);
      return;
    case 8: {
      const size_t from = Below(other.size() + 1);
      bytes.replace(at, Below(2) ? piece : 0, other.substr(from, 1 + Below(64)));
      return;
    }
    default:
      if (Below(4) == 0) bytes.resize(at);
  }
}

}  // namespace tandem::fuzz
