#include "passes/codegen/kernel_cache.h"

#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/crc32c.h"
#include "base/env.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "base/unsynced_files.h"

namespace tandem {
namespace {

// A file is: magic, checksum of the key and of all that follows (4 bytes), length of the object (8 bytes), object,
// bitcode. A file under another key's name counts as damaged.
constexpr absl::string_view kMagic = "TDK3";
constexpr size_t kHeader = 16;

// Numbers have this machine's byte order: the object code is for this machine as well.
template <typename T>
std::string Number(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename T>
T NumberAt(absl::string_view bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

uint32_t Checksum(absl::string_view key, absl::string_view body) {
  return Crc32c(absl::StrCat(Number(Crc32c(key)), Number(Crc32c(body))));
}

// Reads a file, which must be one that no other user can have written.
absl::StatusOr<std::string> ReadCode(Env* env, const std::string& path) {
  TD_ASSIGN_OR_RETURN(std::unique_ptr<RandomAccessFile> file, env->OpenForRead(path));
  TD_RETURN_IF_ERROR(file->CheckTrusted());
  TD_RETURN_IF_ERROR(CheckSize(path, file->size(), kMaxReadFile));
  std::string bytes(file->size(), '\0');
  TD_RETURN_IF_ERROR(file->ReadAt(0, bytes.size(), bytes.data()));
  return bytes;
}

}  // namespace

std::string KernelCache::Seal(absl::string_view key, absl::string_view body) {
  return absl::StrCat(kMagic, Number(Checksum(key, body)), body);
}

std::string KernelCache::Encode(absl::string_view key, const CachedKernel& kernel) {
  return Seal(key, absl::StrCat(Number(uint64_t{kernel.elf_object.size()}), kernel.elf_object, kernel.bitcode));
}

std::optional<CachedKernel> KernelCache::Decode(absl::string_view key, absl::string_view bytes) {
  if (bytes.size() < kHeader || bytes.substr(0, 4) != kMagic) return std::nullopt;
  if (NumberAt<uint32_t>(bytes, 4) != Checksum(key, bytes.substr(8))) return std::nullopt;
  const uint64_t length = NumberAt<uint64_t>(bytes, 8);
  if (length > bytes.size() - kHeader) return std::nullopt;
  return CachedKernel{std::string(bytes.substr(kHeader, length)), std::string(bytes.substr(kHeader + length))};
}

std::string KernelCache::PathOf(absl::string_view key) const { return JoinPath(dir_, absl::StrCat(key, ".tdk")); }

std::optional<CachedKernel> KernelCache::Find(absl::string_view key) const {
  Env* env = Env::Default();
  if (dir_.empty() || !env->Exists(PathOf(key))) return std::nullopt;
  absl::StatusOr<std::string> bytes = ReadCode(env, PathOf(key));
  if (!bytes.ok()) {
    TD_LOG(WARNING) << "a cached kernel is not used: " << bytes.status().message() << "; compiling it again";
    return std::nullopt;
  }
  std::optional<CachedKernel> kernel = Decode(key, *bytes);
  if (!kernel)
    TD_LOG(WARNING) << "the cached kernel " << PathOf(key) << " is damaged or another kernel's; compiling it again";
  return kernel;
}

void KernelCache::Store(absl::string_view key, const CachedKernel& kernel) const {
  if (dir_.empty()) return;
  Env* env = Env::Default();
  absl::Status status = CreateDirsUnsynced(env, dir_);
  if (status.ok()) status = WriteFileUnsynced(env, PathOf(key), Encode(key, kernel));
  if (!status.ok()) TD_LOG(WARNING) << "a compiled kernel is not kept: " << status.message();
}

}  // namespace tandem
