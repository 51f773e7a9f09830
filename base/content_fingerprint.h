// A fingerprint of large data: the same on every machine and in every build.
#ifndef TANDEM_BASE_CONTENT_FINGERPRINT_H_
#define TANDEM_BASE_CONTENT_FINGERPRINT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tandem {

// Returns 128 bits as 32 hexadecimal digits, computed about as fast as memory is read. Data with equal fingerprints may
// be treated as equal, unless somebody tries to deceive: not cryptographic.
std::string ContentFingerprint(absl::string_view bytes);

}  // namespace tandem

#endif  // TANDEM_BASE_CONTENT_FINGERPRINT_H_
