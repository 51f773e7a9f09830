// The file of Dataset::Cache: the elements of a pipeline by their numbers.
#ifndef TANDEM_DATA_FILES_CACHE_FILE_H_
#define TANDEM_DATA_FILES_CACHE_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/env.h"

namespace tandem {

// What tells a cache from those of other pipelines and other data.
struct CacheIdentity {
  std::string pipeline;     // the stages
  std::string fingerprint;  // of the data; may be empty
};

// A file that is complete. Thread-safe.
//   "TDCACHE1" | sizes of the two strings of the identity (8 each) | these
//   entries, in any order: bytes | masked CRC-32C of them (4)
//   index: for each entry its offset and its size without checksum (8 each), a size of -1: there is none
//   tokens: `token_width` numbers (8 each) of each entry
//   offset of the index, entries, token width (8 each) | masked CRC-32C of all from the index on, but for this (4)
//   | masked CRC-32C of the file's beginning up to the entries (4) | "TDCACHED"
class CacheFile {
 public:
  // NotFound when there is none. FailedPrecondition when it is the cache of another pipeline or other data. DataLoss
  // when it is damaged or was not written to its end.
  static absl::StatusOr<std::unique_ptr<CacheFile>> Open(const std::string& path, const CacheIdentity& identity,
                                                         int64_t token_width, Env* env = Env::Default());

  int64_t entries() const { return static_cast<int64_t>(index_.size()); }
  // Of all entries, one after another.
  const std::vector<int64_t>& tokens() const { return tokens_; }
  // The bytes of entry `i` < entries(); false when it has none. DataLoss, with the offset, when they are damaged.
  absl::StatusOr<bool> Read(int64_t i, std::string* bytes) const;

 private:
  friend class CacheFileWriter;
  struct Place {
    int64_t offset = 0, size = -1;
  };

  explicit CacheFile(std::unique_ptr<RandomAccessFile> file) : file_(std::move(file)) {}
  absl::Status ReadIndex(int64_t begin, int64_t token_width);
  absl::Status CheckIdentity(const CacheIdentity& identity, int64_t* end) const;
  absl::Status Damaged(int64_t offset, absl::string_view what) const;

  const std::unique_ptr<RandomAccessFile> file_;
  std::vector<Place> index_;
  std::vector<int64_t> tokens_;
};

// Writes such a file under a temporary name, from which entries can be read again already, and gives it its name when
// it is complete: nothing else is ever found there. Thread-compatible.
class CacheFileWriter {
 public:
  // Removes what nobody writes any more.
  static absl::StatusOr<std::unique_ptr<CacheFileWriter>> Create(const std::string& path, const CacheIdentity& identity,
                                                                 int64_t token_width, Env* env = Env::Default());
  // Removes the file when it was not finished.
  ~CacheFileWriter();
  CacheFileWriter(const CacheFileWriter&) = delete;
  CacheFileWriter& operator=(const CacheFileWriter&) = delete;

  // After an error, such as a full disk, all further calls return it; the file is gone then.
  absl::Status Write(int64_t i, absl::string_view bytes);
  // Whether entry `i` was written, and then its bytes.
  absl::StatusOr<bool> Read(int64_t i, std::string* bytes);
  // All `entries` are written, but for those that have no bytes; `tokens` has token_width numbers of each. The file
  // gets its name, and entries can still be read. OK also where that fails and the same cache is there already, which
  // somebody else has finished.
  absl::Status Finish(int64_t entries, absl::Span<const int64_t> tokens);

 private:
  CacheFileWriter(std::string path, TemporaryFile part, CacheIdentity identity, int64_t token_width, Env* env)
      : path_(std::move(path)),
        part_(std::move(part.path)),
        identity_(std::move(identity)),
        token_width_(token_width),
        env_(env),
        file_(std::move(part.file)) {}
  absl::Status Append(absl::string_view bytes);
  absl::Status Flush();
  absl::Status FinishFile(int64_t entries, absl::Span<const int64_t> tokens);
  // Keeps the first error, and removes the file.
  absl::Status Fail(const absl::Status& status);

  const std::string path_, part_;
  const CacheIdentity identity_;
  const int64_t token_width_;
  Env* const env_;
  std::unique_ptr<WritableFile> file_;
  std::unique_ptr<RandomAccessFile> reader_;
  std::string buffer_;   // behind `flushed_`
  int64_t flushed_ = 0;  // bytes
  std::vector<CacheFile::Place> index_;
  bool finished_ = false;
  absl::Status status_;
};

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_CACHE_FILE_H_
