// A file of the cache of compiled kernels, behind a right checksum or not.
#include "passes/codegen/kernel_cache.h"

#include <algorithm>

#include "tests/fuzz/fuzz_target.h"

namespace tandem::fuzz {

std::vector<std::string> Seeds() { return {KernelCache::Encode("key", {"an object", "its bitcode"}), "TDK3"}; }

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto kernel = tandem::KernelCache::Decode("key", bytes);
  if (kernel) tandem::fuzz::NoteAccepted();
  // A checksum that fits makes the numbers behind it matter.
  const std::string sealed = tandem::KernelCache::Seal("key", bytes.substr(std::min<size_t>(8, size)));
  const auto forged = tandem::KernelCache::Decode("key", sealed);
  if (forged && forged->elf_object.size() + forged->bitcode.size() > size) __builtin_trap();
  return 0;
}
