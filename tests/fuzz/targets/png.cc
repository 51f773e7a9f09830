// A PNG picture, in its own form and in others.
#include "data/image/png.h"

#include <zlib.h>

#include "tests/fuzz/fuzz_target.h"

namespace tandem::fuzz {

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  for (const DType dtype : {DType::kUInt8, DType::kInt32}) {
    for (int channels = 1; channels <= 4; ++channels) {
      const HostTensor image = HostTensor::Zeros(dtype, {5, 7, channels});
      if (auto file = EncodePng(image, {.compression = 2 * channels}); file.ok()) seeds.push_back(*file);
    }
  }
  return seeds;
}

// With the checksum of each chunk made right, so that changes reach what lies behind it.
std::string WithChecksums(std::string file) {
  const auto byte = [&](size_t i) { return size_t{static_cast<uint8_t>(file[i])}; };
  for (size_t at = 8; at + 12 <= file.size();) {
    const size_t length = byte(at) << 24 | byte(at + 1) << 16 | byte(at + 2) << 8 | byte(at + 3);
    if (length > file.size() - at - 12) break;
    const size_t end = at + 8 + length;
    const uint32_t sum = crc32(0, reinterpret_cast<const Bytef*>(file.data() + at + 4), length + 4);
    for (int i = 0; i < 4; ++i) file[end + i] = static_cast<char>(sum >> (24 - 8 * i));
    at = end + 4;
  }
  return file;
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  // Of an even size: the others show that checksums are compared.
  if (size % 2 == 0) bytes = tandem::fuzz::WithChecksums(std::move(bytes));
  constexpr int64_t kMaxBytes = 1 << 20;
  if (tandem::DecodePng(bytes, {.max_bytes = kMaxBytes}).ok()) tandem::fuzz::NoteAccepted();
  (void)tandem::DecodePng(bytes, {.channels = 2, .bits = 16, .max_bytes = kMaxBytes}).ok();
  return 0;
}
