// Executable files as fuzz targets want them: what is wrong with them is not their checksums.
#ifndef TANDEM_TESTS_FUZZ_SEALED_H_
#define TANDEM_TESTS_FUZZ_SEALED_H_

#include <cstdint>
#include <cstring>
#include <string>

#include "runtime/testing/executable_builder.h"

namespace tandem::fuzz {

// The bytes as a file of their length, with the checksums of prefix and index made right.
inline std::string Sealed(const uint8_t* data, size_t size) {
  constexpr size_t kPrefixBytes = 32, kFileLengthAt = 16;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (size < kPrefixBytes) return bytes;
  const uint64_t length = size;
  std::memcpy(bytes.data() + kFileLengthAt, &length, sizeof length);
  Reseal(bytes);
  return bytes;
}

}  // namespace tandem::fuzz

#endif  // TANDEM_TESTS_FUZZ_SEALED_H_
