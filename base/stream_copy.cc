#include "base/stream_copy.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>

namespace tandem {

void StreamCopy(void* to, const void* from, int64_t bytes) {
  constexpr int64_t kLine = 64, kWord = 16;
  auto* out = static_cast<char*>(to);
  const auto* in = static_cast<const char*>(from);
  // Only whole cache lines are streamed: a line that is written in parts costs as much as several lines.
  const int64_t head = std::min(bytes, static_cast<int64_t>(-reinterpret_cast<uintptr_t>(out) & (kLine - 1)));
  if (head > 0) std::memcpy(out, in, head);
  int64_t at = head;
  for (; at + kLine <= bytes; at += kLine) {
    for (int64_t i = at; i < at + kLine; i += kWord) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(out + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i)));
    }
  }
  if (at < bytes) std::memcpy(out + at, in + at, bytes - at);
  _mm_sfence();
}

}  // namespace tandem
