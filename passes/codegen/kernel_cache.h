// Compiled kernels on disk, by fingerprint, so that a kernel of any program of any earlier run is not compiled again.
#ifndef TANDEM_PASSES_CODEGEN_KERNEL_CACHE_H_
#define TANDEM_PASSES_CODEGEN_KERNEL_CACHE_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace tandem {

struct CachedKernel {
  std::string elf_object;
  std::string bitcode;
};

// Thread-safe, also across processes: files are written to a temporary name and renamed.
class KernelCache {
 public:
  // The directory `dir` is made when the first kernel is stored; with an empty `dir` nothing is found or stored.
  explicit KernelCache(std::string dir) : dir_(std::move(dir)) {}

  // Returns the kernel stored under `key`, or nothing. A file that is damaged, that was stored under another key, or
  // that another user owns or may write, is reported as a warning and not used.
  std::optional<CachedKernel> Find(absl::string_view key) const;
  // Stores a kernel. A cache that cannot be written is only a warning, since it costs time, not results.
  void Store(absl::string_view key, const CachedKernel& kernel) const;

  // Encode returns the bytes of the file that holds `kernel` under `key`. Decode returns the kernel in such bytes, or
  // nothing if they are damaged or belong to another key.
  static std::string Encode(absl::string_view key, const CachedKernel& kernel);
  static std::optional<CachedKernel> Decode(absl::string_view key, absl::string_view bytes);
  // Returns the bytes of a file with this content, valid or not, and its checksum.
  static std::string Seal(absl::string_view key, absl::string_view body);

 private:
  std::string PathOf(absl::string_view key) const;

  std::string dir_;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_KERNEL_CACHE_H_
