// A fingerprint of large data: the same on every machine and in every build.
#ifndef TANDEM_BASE_CONTENT_FINGERPRINT_H_
#define TANDEM_BASE_CONTENT_FINGERPRINT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tandem {

// 128 bits in 32 hexadecimal digits, read about as fast as memory: data may be taken for equal where theirs are, unless
// somebody means to deceive. Not cryptographic.
std::string ContentFingerprint(absl::string_view bytes);

}  // namespace tandem

#endif  // TANDEM_BASE_CONTENT_FINGERPRINT_H_
