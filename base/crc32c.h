// CRC-32C (Castagnoli), the checksum of checkpoints, executables and record files.
#ifndef TANDEM_BASE_CRC32C_H_
#define TANDEM_BASE_CRC32C_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace tandem {

// The checksum of a text whose beginning has the checksum `crc` and whose rest is `bytes`; `crc` is 0 at the start.
uint32_t ExtendCrc32c(uint32_t crc, absl::string_view bytes);

inline uint32_t Crc32c(absl::string_view bytes) { return ExtendCrc32c(0, bytes); }

}  // namespace tandem

#endif  // TANDEM_BASE_CRC32C_H_
