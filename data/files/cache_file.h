// The file of Dataset::Cache: holds the elements of a pipeline by their numbers.
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

// Identifies a cache: the pipeline and the data that it was made from.
struct CacheIdentity {
  std::string pipeline;     // signature of the stages
  std::string fingerprint;  // fingerprint of the data; may be empty
};

// A complete file. Thread-safe.
//   "TDCACHE1" | sizes of the two strings of the identity (8 bytes each) | these strings
//   entries, in any order: bytes | masked CRC-32C of them (4)
//   index: for each entry its offset and its size without checksum (8 each); size -1: there is no entry
//   tokens: `token_width` numbers (8 each) of each entry
//   offset of the index, number of entries, token width (8 each) | masked CRC-32C of all of the above from the index on
//   (4)
//   | masked CRC-32C of the file's beginning up to the entries (4) | "TDCACHED"
class CacheFile {
 public:
  // Opens a cache. NotFound when there is no file. FailedPrecondition when it is the cache of another pipeline or of
  // other data. DataLoss when it is damaged or incomplete.
  static absl::StatusOr<std::unique_ptr<CacheFile>> Open(const std::string& path, const CacheIdentity& identity,
                                                         int64_t token_width, Env* env = Env::Default());

  int64_t entries() const { return static_cast<int64_t>(index_.size()); }
  // Tokens of all entries, one after another.
  const std::vector<int64_t>& tokens() const { return tokens_; }
  // Reads the bytes of entry `i` < entries(); false when it has none. DataLoss, with the offset, when they are damaged.
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

// Writes a cache file under a temporary name, and renames it when it is complete, so that an incomplete file never has
// the final name. Entries can be read again as soon as they are written. Thread-compatible.
class CacheFileWriter {
 public:
  // Creates the temporary file. Also deletes temporary files of writers that have ended.
  static absl::StatusOr<std::unique_ptr<CacheFileWriter>> Create(const std::string& path, const CacheIdentity& identity,
                                                                 int64_t token_width, Env* env = Env::Default());
  // Removes the file if it was not finished.
  ~CacheFileWriter();
  CacheFileWriter(const CacheFileWriter&) = delete;
  CacheFileWriter& operator=(const CacheFileWriter&) = delete;

  // After an error, such as a full disk, the file is removed and all further calls return the error.
  absl::Status Write(int64_t i, absl::string_view bytes);
  // Returns true and stores the bytes of entry `i` if it was written.
  absl::StatusOr<bool> Read(int64_t i, std::string* bytes);
  // Completes the file and gives it its name; entries can still be read. All of the `entries` entries must have been
  // written, except those without bytes; `tokens` has token_width numbers for each. Also OK if this fails but another
  // process has finished the same cache.
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
  // Records the first error, and deletes the file.
  absl::Status Fail(const absl::Status& status);

  const std::string path_, part_;
  const CacheIdentity identity_;
  const int64_t token_width_;
  Env* const env_;
  std::unique_ptr<WritableFile> file_;
  std::unique_ptr<RandomAccessFile> reader_;
  std::string buffer_;   // bytes not yet written; they follow the first `flushed_` bytes
  int64_t flushed_ = 0;  // bytes written to the file
  std::vector<CacheFile::Place> index_;
  bool finished_ = false;
  absl::Status status_;
};

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_CACHE_FILE_H_
