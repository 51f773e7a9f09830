#include "base/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

namespace tandem {

uint32_t ExtendCrc32c(uint32_t crc, absl::string_view bytes) {
  // ISA-L takes the length as an int and neither inverts the initial value nor the result.
  constexpr size_t kChunk = size_t{1} << 30;
  crc = ~crc;
  while (!bytes.empty()) {
    size_t n = std::min(bytes.size(), kChunk);
    auto* p = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));  // ISA-L only reads from this pointer
    crc = crc32_iscsi(p, static_cast<int>(n), crc);
    bytes.remove_prefix(n);
  }
  return ~crc;
}

}  // namespace tandem
