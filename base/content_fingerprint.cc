#include "base/content_fingerprint.h"

#include <cstdint>
#include <cstring>

#include "absl/strings/str_format.h"

namespace tandem {
namespace {

// Four chains of words, which a processor computes in parallel. The step that adds a word to a chain is invertible in
// both, so two texts that differ in one word of a chain end with different chains.
constexpr int kChains = 4;
constexpr uint64_t kFactor = 0x9e3779b97f4a7c15u;

uint64_t Step(uint64_t chain, uint64_t word) {
  chain = (chain ^ word) * kFactor;
  return chain ^ (chain >> 32);
}

// Combines the chains and the size into 64 bits, differently for each seed.
uint64_t Folded(const uint64_t (&chains)[kChains], uint64_t size, uint64_t seed) {
  uint64_t h = seed;
  for (const uint64_t chain : chains) h = Step(Step(h, chain), seed);
  h = Step(h, size);
  return Step(h, seed);
}

}  // namespace

std::string ContentFingerprint(absl::string_view bytes) {
  uint64_t chains[kChains] = {0x243f6a8885a308d3u, 0x13198a2e03707344u, 0xa4093822299f31d0u, 0x082efa98ec4e6c89u};
  constexpr size_t kBlock = kChains * sizeof(uint64_t);
  const char* at = bytes.data();
  size_t left = bytes.size();
  const auto add = [&](const char* block) {
    uint64_t words[kChains];
    std::memcpy(words, block, kBlock);
    for (int i = 0; i < kChains; ++i) chains[i] = Step(chains[i], words[i]);
  };
  for (; left >= kBlock; at += kBlock, left -= kBlock) add(at);
  if (left > 0) {
    char last[kBlock] = {};
    std::memcpy(last, at, left);
    add(last);
  }
  return absl::StrFormat("%016x%016x", Folded(chains, bytes.size(), 0x452821e638d01377u),
                         Folded(chains, bytes.size(), 0xbe5466cf34e90c6cu));
}

}  // namespace tandem
