// CRC-32C (Castagnoli), the checksum of checkpoints, executables and record files.
#ifndef TANDEM_BASE_CRC32C_H_
#define TANDEM_BASE_CRC32C_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace tandem {

// Returns the checksum of a text whose beginning has the checksum `crc` (0 for an empty beginning) and whose rest is
// `bytes`.
uint32_t ExtendCrc32c(uint32_t crc, absl::string_view bytes);

inline uint32_t Crc32c(absl::string_view bytes) { return ExtendCrc32c(0, bytes); }

}  // namespace tandem

#endif  // TANDEM_BASE_CRC32C_H_
