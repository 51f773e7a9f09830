#include "data/files/cache_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "base/temporary_files.h"
#include "base/temporary_name.h"
#include "data/files/record_format.h"

namespace tandem {
namespace {

using record_format::LoadLittleEndian;
using record_format::MaskedCrc;
using record_format::StoreLittleEndian;

constexpr char kMagic[] = "TDCACHE1", kEndMagic[] = "TDCACHED";
constexpr int64_t kMagicBytes = 8, kCrcBytes = 4, kNumberBytes = 8;
constexpr int64_t kCacheHeaderBytes = kMagicBytes + 2 * kNumberBytes;
constexpr int64_t kCacheFooterBytes = 3 * kNumberBytes + 2 * kCrcBytes + kMagicBytes;
constexpr int64_t kMaxIdentityBytes = 16 << 20;
constexpr size_t kCacheBufferBytes = 1 << 20;

std::string Numbers(absl::Span<const int64_t> values) {
  std::string bytes(values.size() * kNumberBytes, '\0');
  for (size_t i = 0; i < values.size(); ++i) StoreLittleEndian(values[i], &bytes[i * kNumberBytes]);
  return bytes;
}

std::string Crc(absl::string_view bytes) {
  std::string crc(kCrcBytes, '\0');
  StoreLittleEndian(MaskedCrc(bytes), crc.data());
  return crc;
}

std::string Header(const CacheIdentity& identity) {
  const std::string sizes =
      Numbers({static_cast<int64_t>(identity.pipeline.size()), static_cast<int64_t>(identity.fingerprint.size())});
  return absl::StrCat(kMagic, sizes, identity.pipeline, identity.fingerprint);
}

absl::StatusOr<std::string> ReadBytes(const RandomAccessFile& file, int64_t offset, int64_t bytes) {
  std::string out(bytes, '\0');
  TD_RETURN_IF_ERROR(file.ReadAt(offset, bytes, out.data()));
  return out;
}

}  // namespace

absl::Status CacheFile::Damaged(int64_t offset, absl::string_view what) const {
  return absl::DataLossError(
      absl::StrCat(file_->path(), ": at byte ", offset, ": ", what, "; delete the cache, and it is made again"));
}

absl::StatusOr<std::unique_ptr<CacheFile>> CacheFile::Open(const std::string& path, const CacheIdentity& identity,
                                                           int64_t token_width, Env* env) {
  TD_ASSIGN_OR_RETURN(std::unique_ptr<RandomAccessFile> file, env->OpenForRead(path));
  std::unique_ptr<CacheFile> cache(new CacheFile(std::move(file)));
  int64_t begin = 0;
  TD_RETURN_IF_ERROR(cache->CheckIdentity(identity, &begin));
  TD_RETURN_IF_ERROR(cache->ReadIndex(begin, token_width));
  return cache;
}

absl::Status CacheFile::CheckIdentity(const CacheIdentity& identity, int64_t* end) const {
  const int64_t size = file_->size();
  if (size < kCacheHeaderBytes + kCacheFooterBytes) return Damaged(size, "the file is shorter than any cache");
  TD_ASSIGN_OR_RETURN(const std::string header, ReadBytes(*file_, 0, kCacheHeaderBytes));
  if (header.substr(0, kMagicBytes) != kMagic) return Damaged(0, "the file is no cache of a dataset");
  const int64_t pipeline = LoadLittleEndian<int64_t>(&header[kMagicBytes]);
  const int64_t fingerprint = LoadLittleEndian<int64_t>(&header[kMagicBytes + kNumberBytes]);
  if (pipeline < 0 || fingerprint < 0 || pipeline > kMaxIdentityBytes || fingerprint > kMaxIdentityBytes ||
      pipeline + fingerprint > size - kCacheHeaderBytes - kCacheFooterBytes) {
    return Damaged(kMagicBytes, "the sizes of the header are wrong");
  }
  *end = kCacheHeaderBytes + pipeline + fingerprint;
  TD_ASSIGN_OR_RETURN(const std::string all, ReadBytes(*file_, 0, *end));
  TD_ASSIGN_OR_RETURN(const std::string crc, ReadBytes(*file_, size - kMagicBytes - kCrcBytes, kCrcBytes));
  if (crc != Crc(all)) return Damaged(0, "the checksum of the header is wrong");
  const std::string found = all.substr(kCacheHeaderBytes, pipeline),
                    found_data = all.substr(kCacheHeaderBytes + pipeline);
  const char* advice = "; give this pipeline another file, or delete the cache if it is of an earlier version";
  if (found != identity.pipeline) {
    return absl::FailedPreconditionError(absl::StrCat(file_->path(), ": it is the cache of another pipeline: \"", found,
                                                      "\", and this one is \"", identity.pipeline, "\"", advice));
  }
  if (found_data == identity.fingerprint) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(file_->path(), ": it is the cache of other data: \"", found_data,
                                                    "\", and there is \"", identity.fingerprint, "\"", advice));
}

absl::Status CacheFile::ReadIndex(int64_t begin, int64_t token_width) {
  const int64_t size = file_->size(), footer_at = size - kCacheFooterBytes;
  TD_ASSIGN_OR_RETURN(const std::string footer, ReadBytes(*file_, footer_at, kCacheFooterBytes));
  if (footer.substr(kCacheFooterBytes - kMagicBytes) != kEndMagic) {
    return Damaged(size - kMagicBytes, "the end is missing: the file is cut off");
  }
  const int64_t index_at = LoadLittleEndian<int64_t>(&footer[0]);
  const int64_t entries = LoadLittleEndian<int64_t>(&footer[kNumberBytes]);
  const int64_t width = LoadLittleEndian<int64_t>(&footer[2 * kNumberBytes]);
  const int64_t numbers = index_at < begin || index_at > footer_at ? -1 : (footer_at - index_at) / kNumberBytes;
  if (width != token_width || entries < 0 || numbers < 0 || entries > numbers / (2 + width) ||
      entries * (2 + width) * kNumberBytes != footer_at - index_at) {
    return Damaged(footer_at, "the sizes of the index are wrong");
  }
  TD_ASSIGN_OR_RETURN(std::string index, ReadBytes(*file_, index_at, footer_at - index_at));
  index += footer.substr(0, 3 * kNumberBytes);
  if (Crc(index) != footer.substr(3 * kNumberBytes, kCrcBytes)) {
    return Damaged(index_at, "the checksum of the index is wrong");
  }
  index_.resize(entries);
  for (int64_t i = 0; i < entries; ++i) {
    index_[i] = {LoadLittleEndian<int64_t>(&index[2 * i * kNumberBytes]),
                 LoadLittleEndian<int64_t>(&index[(2 * i + 1) * kNumberBytes])};
    const auto& [offset, bytes] = index_[i];
    const bool fits = bytes == -1 || (bytes >= 0 && offset >= begin && offset <= index_at - kCrcBytes &&
                                      bytes <= index_at - kCrcBytes - offset);
    if (!fits) return Damaged(index_at + 2 * i * kNumberBytes, absl::StrCat("the place of entry ", i, " is wrong"));
  }
  tokens_.resize(entries * width);
  for (size_t k = 0; k < tokens_.size(); ++k) {
    tokens_[k] = LoadLittleEndian<int64_t>(&index[(2 * entries + k) * kNumberBytes]);
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> CacheFile::Read(int64_t i, std::string* bytes) const {
  const auto& [offset, size] = index_[i];
  if (size < 0) return false;
  TD_ASSIGN_OR_RETURN(*bytes, ReadBytes(*file_, offset, size + kCrcBytes));
  const std::string crc = bytes->substr(size);
  bytes->resize(size);
  if (Crc(*bytes) != crc) return Damaged(offset, absl::StrCat("the checksum of entry ", i, " is wrong"));
  return true;
}

absl::StatusOr<std::unique_ptr<CacheFileWriter>> CacheFileWriter::Create(const std::string& path,
                                                                         const CacheIdentity& identity,
                                                                         int64_t token_width, Env* env) {
  const absl::Status deleted =
      DeleteTemporaries(env, DirName(path), [&](absl::string_view target) { return target == BaseName(path); });
  if (!deleted.ok()) TD_LOG(WARNING) << "Leftovers of " << path << " could not be deleted: " << deleted.message();
  TD_ASSIGN_OR_RETURN(TemporaryFile part, env->CreateTemporary(path));
  std::unique_ptr<CacheFileWriter> writer(new CacheFileWriter(path, std::move(part), identity, token_width, env));
  TD_RETURN_IF_ERROR(writer->Append(Header(identity)));
  TD_RETURN_IF_ERROR(writer->Flush());
  TD_ASSIGN_OR_RETURN(writer->reader_, env->OpenForRead(writer->part_));
  return writer;
}

CacheFileWriter::~CacheFileWriter() {
  if (!finished_ && status_.ok()) (void)env_->DeleteFile(part_);
}

absl::Status CacheFileWriter::Fail(const absl::Status& status) {
  if (status.ok() || !status_.ok()) return status_;
  status_ = Annotate(status, absl::StrCat(path_, ": the cache could not be written: "));
  file_ = nullptr;
  // Deletes the partial file at once, because a full disk is the likely reason and other programs need the space.
  (void)env_->DeleteFile(part_);
  return status_;
}

absl::Status CacheFileWriter::Append(absl::string_view bytes) {
  absl::StrAppend(&buffer_, bytes);
  return buffer_.size() < kCacheBufferBytes ? absl::OkStatus() : Flush();
}

absl::Status CacheFileWriter::Flush() {
  TD_RETURN_IF_ERROR(file_->Append(buffer_));
  flushed_ += static_cast<int64_t>(buffer_.size());
  buffer_.clear();
  return absl::OkStatus();
}

absl::Status CacheFileWriter::Write(int64_t i, absl::string_view bytes) {
  TD_RETURN_IF_ERROR(status_);
  if (i >= static_cast<int64_t>(index_.size())) index_.resize(i + 1);
  const int64_t offset = flushed_ + static_cast<int64_t>(buffer_.size());
  TD_RETURN_IF_ERROR(Fail(Append(absl::StrCat(bytes, Crc(bytes)))));
  index_[i] = {offset, static_cast<int64_t>(bytes.size())};  // indexes the entry only now that its bytes were appended
  return absl::OkStatus();
}

absl::StatusOr<bool> CacheFileWriter::Read(int64_t i, std::string* bytes) {
  TD_RETURN_IF_ERROR(status_);
  if (i >= static_cast<int64_t>(index_.size()) || index_[i].size < 0) return false;
  const auto& [offset, size] = index_[i];
  if (offset >= flushed_) {
    *bytes = buffer_.substr(offset - flushed_, size);
  } else {
    TD_ASSIGN_OR_RETURN(*bytes, ReadBytes(*reader_, offset, size));
  }
  return true;
}

absl::Status CacheFileWriter::Finish(int64_t entries, absl::Span<const int64_t> tokens) {
  TD_RETURN_IF_ERROR(status_);
  TD_RETURN_IF_ERROR(Fail(FinishFile(entries, tokens)));
  finished_ = true;
  return absl::OkStatus();
}

absl::Status CacheFileWriter::FinishFile(int64_t entries, absl::Span<const int64_t> tokens) {
  index_.resize(entries);
  const int64_t index_at = flushed_ + static_cast<int64_t>(buffer_.size());
  std::vector<int64_t> numbers;
  numbers.reserve(2 * entries + tokens.size() + 3);
  for (const auto& [offset, size] : index_) numbers.insert(numbers.end(), {offset, size});
  numbers.insert(numbers.end(), tokens.begin(), tokens.end());
  numbers.insert(numbers.end(), {index_at, entries, token_width_});
  const std::string bytes = Numbers(numbers);
  TD_RETURN_IF_ERROR(Append(absl::StrCat(bytes, Crc(bytes), Crc(Header(identity_)), kEndMagic)));
  TD_RETURN_IF_ERROR(Flush());
  TD_RETURN_IF_ERROR(file_->Sync());
  // The file stays open until it is renamed, because another process deletes temporary files that nobody has open.
  if (absl::Status renamed = env_->Rename(part_, path_); !renamed.ok()) {
    if (!CacheFile::Open(path_, identity_, token_width_, env_).ok()) return renamed;
    TD_LOG(INFO) << path_ << ": the cache is another process's, which was faster.";
    (void)env_->DeleteFile(part_);
  }
  file_ = nullptr;
  return env_->SyncDir(DirName(path_));
}

}  // namespace tandem
