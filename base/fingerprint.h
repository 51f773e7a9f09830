// Stable 64-bit hashes: the same on every machine and in every build, suitable for file names and random keys.
#ifndef TANDEM_BASE_FINGERPRINT_H_
#define TANDEM_BASE_FINGERPRINT_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace tandem {

// FNV-1a with a final avalanche (splitmix64). Not cryptographic.
uint64_t Fingerprint64(absl::string_view bytes, uint64_t seed = 0);

}  // namespace tandem

#endif  // TANDEM_BASE_FINGERPRINT_H_
