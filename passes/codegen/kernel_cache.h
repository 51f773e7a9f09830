// Compiled kernels on disk, by fingerprint: a kernel that any program of any earlier run had is not compiled again.
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
  // `dir` is made when the first kernel is stored; with an empty `dir` nothing is found or stored.
  explicit KernelCache(std::string dir) : dir_(std::move(dir)) {}

  // Nothing when there is none. A file that is damaged, that was stored under another key, or that another user owns or
  // may write, is reported as a warning and counts as none.
  std::optional<CachedKernel> Find(absl::string_view key) const;
  // A cache that cannot be written costs time, not results: that is a warning too.
  void Store(absl::string_view key, const CachedKernel& kernel) const;

  // The bytes of the file that holds `kernel` under `key`, and what the bytes of a file hold, if it was stored under
  // it.
  static std::string Encode(absl::string_view key, const CachedKernel& kernel);
  static std::optional<CachedKernel> Decode(absl::string_view key, absl::string_view bytes);
  // A file with this content, right or wrong, and the checksum that belongs to it.
  static std::string Seal(absl::string_view key, absl::string_view body);

 private:
  std::string PathOf(absl::string_view key) const;

  std::string dir_;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_KERNEL_CACHE_H_
