#include "runtime/executable/executable.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/align.h"
#include "base/crc32c.h"
#include "base/exit_code.h"
#include "base/status_macros.h"
#include "runtime/executable/executable_verify.h"
#include "runtime/format/flatbuffer.h"
#include "runtime/format/kernel_entry.h"

namespace tandem {
namespace {

constexpr char kMagic[] = "TANDEMX1";
constexpr uint64_t kPrefixBytes = 32;
constexpr uint64_t kChecksummedPrefixBytes = 28;
constexpr uint64_t kSegmentAlignment = 64;
// A FlatBuffer cannot be larger than this; large data belongs into segments.
constexpr uint64_t kMaxIndexBytes = uint64_t{1} << 30;

// Asks for huge pages for memory that is about to be written for the first time: for a large program, getting small
// pages takes longer than copying the bytes.
void PreferLargePages(const void* memory, uint64_t bytes) {
  constexpr uint64_t kLargePage = uint64_t{1} << 21;
  const auto first = reinterpret_cast<uintptr_t>(memory);
  const uint64_t begin = AlignUp(first, kLargePage), end = (first + bytes) / kLargePage * kLargePage;
  // This is only a hint, so a failure does not matter.
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

template <typename T>
void Append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename T>
T ReadAt(absl::string_view bytes, uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

absl::Status Damaged(const std::string& name, uint64_t offset, absl::string_view what) {
  return WithExitCode(
      absl::DataLossError(absl::StrCat(name, ": offset ", offset, ": ", what,
                                       "; the executable is damaged: delete it, it will be compiled again")),
      kExitBadData);
}

// Checks the first bytes of a file of `size` bytes.
absl::Status CheckPrefix(absl::string_view bytes, uint64_t size, const std::string& name) {
  if (bytes.size() < kPrefixBytes) {
    return Damaged(name, bytes.size(), absl::StrCat("the file ends within its ", kPrefixBytes, " byte prefix"));
  }
  if (std::memcmp(bytes.data(), kMagic, 8) != 0) return Damaged(name, 0, "not a Tandem executable (bad magic)");
  if (ReadAt<uint32_t>(bytes, 28) != Crc32c(bytes.substr(0, kChecksummedPrefixBytes))) {
    return Damaged(name, 28, "the checksum of the prefix does not match");
  }
  uint64_t index_bytes = ReadAt<uint64_t>(bytes, 8), file_bytes = ReadAt<uint64_t>(bytes, 16);
  if (file_bytes != size) {
    return Damaged(name, 16, absl::StrCat("the file has ", size, " bytes and should have ", file_bytes));
  }
  if (index_bytes > kMaxIndexBytes || index_bytes > size - kPrefixBytes) {
    return Damaged(name, 8, absl::StrCat("an index of ", index_bytes, " bytes does not fit into the file"));
  }
  return absl::OkStatus();
}

// Checks the prefix and the index's checksum, and returns the bytes of the index.
absl::StatusOr<absl::string_view> CheckIndex(absl::string_view bytes, const std::string& name) {
  TD_RETURN_IF_ERROR(CheckPrefix(bytes, bytes.size(), name));
  absl::string_view index = bytes.substr(kPrefixBytes, ReadAt<uint64_t>(bytes, 8));
  if (ReadAt<uint32_t>(bytes, 24) != Crc32c(index)) {
    return Damaged(name, kPrefixBytes, "the checksum of the index does not match");
  }
  return index;
}

// Checks that segments follow the index and each other without gaps except for alignment, so that no byte is left
// unchecked.
absl::Status CheckSegments(absl::string_view bytes, uint64_t end, const format::Index& index, const std::string& name) {
  for (size_t i = 0; i < index.segments.size(); ++i) {
    const format::Segment& segment = index.segments[i];
    uint64_t begin = AlignUp(end, kSegmentAlignment);
    if (segment.offset != begin) {
      return Damaged(name, end, absl::StrCat("segment ", i, " claims offset ", segment.offset, " instead of ", begin));
    }
    if (begin > bytes.size() || segment.length > bytes.size() - begin) {
      return Damaged(name, begin, absl::StrCat("segment ", i, " of ", segment.length, " bytes ends after the file"));
    }
    for (uint64_t p = end; p < begin; ++p) {
      if (bytes[p] != 0) return Damaged(name, p, "padding is not zero");
    }
    if (Crc32c(bytes.substr(begin, segment.length)) != segment.crc32c) {
      return Damaged(name, begin, absl::StrCat("the checksum of segment ", i, " (", segment.name, ") does not match"));
    }
    end = begin + segment.length;
  }
  if (end != bytes.size()) return Damaged(name, end, "bytes after the last segment");
  return absl::OkStatus();
}

}  // namespace

HostTensor PackExecutable(format::Index index, const std::vector<SegmentData>& segments) {
  index.segments.clear();
  for (const SegmentData& data : segments) {
    format::Segment segment;
    segment.kind = data.kind;
    segment.name = data.name;
    // anything but 0, because FlatBuffers omits defaults and the length of the index must not change below
    segment.offset = 1;
    segment.length = data.bytes.size();
    segment.crc32c = Crc32c(data.bytes);
    for (absl::string_view piece : data.pieces) {
      segment.length += piece.size();
      segment.crc32c = ExtendCrc32c(segment.crc32c, piece);
    }
    index.segments.push_back(std::move(segment));
  }
  for (auto& kernel : index.kernels) {
    if (kernel.entry_crc32c == 0) kernel.entry_crc32c = KernelEntryChecksum(index, kernel);
  }
  uint64_t index_bytes = format::ToFlatBuffer(index).size();
  uint64_t end = kPrefixBytes + index_bytes;
  for (auto& segment : index.segments) {
    segment.offset = AlignUp(end, kSegmentAlignment);
    end = segment.offset + segment.length;
  }
  const std::string packed = format::ToFlatBuffer(index);

  std::string prefix(kMagic, 8);
  Append<uint64_t>(prefix, packed.size());
  Append<uint64_t>(prefix, end);
  Append<uint32_t>(prefix, Crc32c(packed));
  Append<uint32_t>(prefix, Crc32c(prefix));

  HostTensor file(DType::kUInt8, {static_cast<int64_t>(end)});
  PreferLargePages(file.raw(), end);
  auto* const begin = static_cast<char*>(file.raw());
  uint64_t at = 0;
  const auto append = [&](absl::string_view bytes) {
    if (!bytes.empty()) std::memcpy(begin + at, bytes.data(), bytes.size());
    at += bytes.size();
  };
  append(prefix);
  append(packed);
  for (size_t i = 0; i < segments.size(); ++i) {
    std::memset(begin + at, 0, index.segments[i].offset - at);
    at = index.segments[i].offset;
    append(segments[i].bytes);
    for (absl::string_view piece : segments[i].pieces) append(piece);
  }
  return file;
}

std::string BuildExecutable(format::Index index, const std::vector<SegmentData>& segments) {
  const HostTensor file = PackExecutable(std::move(index), segments);
  return std::string(static_cast<const char*>(file.raw()), file.byte_size());
}

absl::StatusOr<std::shared_ptr<const Executable>> Executable::Load(const std::string& path, Env* env) {
  TD_ASSIGN_OR_RETURN(auto file, env->OpenForRead(path));
  TD_RETURN_IF_ERROR(file->CheckTrusted());
  return FromFile(*file);
}

absl::StatusOr<std::shared_ptr<const Executable>> Executable::LoadToLook(const std::string& path, Env* env) {
  TD_ASSIGN_OR_RETURN(auto file, env->OpenForRead(path));
  return FromFile(*file);
}

absl::StatusOr<std::shared_ptr<const Executable>> Executable::FromFile(const RandomAccessFile& file) {
  // A file that is no executable is refused before memory is allocated for all of it.
  std::string prefix(std::min<int64_t>(file.size(), kPrefixBytes), '\0');
  TD_RETURN_IF_ERROR(file.ReadAt(0, prefix.size(), prefix.data()));
  TD_RETURN_IF_ERROR(CheckPrefix(prefix, file.size(), file.path()));
  TD_RETURN_IF_ERROR(CheckSize(file.path(), file.size(), std::numeric_limits<int64_t>::max()));
  HostTensor bytes(DType::kUInt8, {file.size()});
  TD_RETURN_IF_ERROR(file.ReadAt(0, file.size(), static_cast<char*>(bytes.raw())));
  return FromBytes(std::move(bytes), file.path());
}

absl::StatusOr<std::shared_ptr<const Executable>> Executable::Parse(absl::string_view bytes, const std::string& name) {
  HostTensor copy(DType::kUInt8, {static_cast<int64_t>(bytes.size())});
  PreferLargePages(copy.raw(), bytes.size());
  if (!bytes.empty()) std::memcpy(copy.raw(), bytes.data(), bytes.size());
  return FromBytes(std::move(copy), name);
}

absl::StatusOr<std::shared_ptr<const Executable>> Executable::FromBytes(HostTensor bytes, const std::string& name) {
  absl::string_view view(static_cast<const char*>(bytes.raw()), bytes.byte_size());
  TD_ASSIGN_OR_RETURN(absl::string_view index_bytes, CheckIndex(view, name));
  std::optional<format::Index> index = format::IndexFromFlatBuffer(index_bytes);
  if (!index) return Damaged(name, kPrefixBytes, "the index is not a valid FlatBuffer of this format");
  // Tables without a location refer to location 0, so there must be one.
  if (index->debug.locations.empty()) index->debug.locations.emplace_back();
  std::shared_ptr<Executable> executable(new Executable);
  executable->name_ = name;
  executable->index_ = *std::move(index);
  executable->bytes_ = std::move(bytes);
  TD_RETURN_IF_ERROR(CheckSegments(view, kPrefixBytes + index_bytes.size(), executable->index_, name));
  TD_RETURN_IF_ERROR(VerifyExecutable(executable->index_, name));
  return executable;
}

Executable::Executable() = default;
Executable::~Executable() = default;

int Executable::num_replicas() const { return static_cast<int>(index_.replicas.size()); }

int Executable::lanes_per_replica() const { return static_cast<int>(index_.lanes) / num_replicas(); }

int64_t Executable::rows_per_replica() const { return int64_t{lanes_per_replica()} * index_.rows_per_lane; }

absl::string_view Executable::segment(int i) const {
  const format::Segment& segment = index_.segments[i];
  return absl::string_view(static_cast<const char*>(bytes_.raw()) + segment.offset, segment.length);
}

absl::string_view Executable::constants() const {
  for (size_t i = 0; i < index_.segments.size(); ++i) {
    if (index_.segments[i].kind == format::SegmentKind::kConstants) return segment(static_cast<int>(i));
  }
  return {};
}

std::string Executable::LocationString(uint32_t location) const {
  if (location >= index_.debug.locations.size()) return "";
  const format::Location& l = index_.debug.locations[location];
  if (l.file.empty()) return "";
  return absl::StrCat(l.file, ":", l.line, l.name.empty() ? "" : absl::StrCat(" (", l.name, ")"));
}

}  // namespace tandem
