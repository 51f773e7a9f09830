// Reads zip archives, entry by entry.
#ifndef TANDEM_DATA_FILES_ZIP_READER_H_
#define TANDEM_DATA_FILES_ZIP_READER_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

struct zip;
struct zip_file;

namespace tandem {

struct LibZip;
class ZipReader;

// An entry that is being read. Thread-compatible; its archive must outlive it.
class ZipEntry {
 public:
  ~ZipEntry();
  ZipEntry(ZipEntry&& other);

  // The name in the archive; may have any bytes but NUL.
  const std::string& name() const { return name_; }
  // Archive and name for messages: "archive.zip, name".
  const std::string& where() const { return where_; }
  // An upper bound on the bytes of the entry: the size that the archive claims, or less if the file cannot hold so
  // many.
  int64_t max_bytes() const { return max_bytes_; }

  // Reads up to `bytes` more; less only at the end, where the checksum is compared. DataLoss for damage.
  absl::StatusOr<int64_t> Read(void* to, int64_t bytes);
  // Reads all bytes. DataLoss also if there are fewer than the archive claims; InvalidArgument if it claims more than
  // `max_bytes`, before memory is allocated.
  absl::StatusOr<std::string> ReadAll(int64_t max_bytes);

 private:
  friend class ZipReader;
  ZipEntry(const LibZip* zip, struct zip_file* file, std::string name, std::string where, int64_t max_bytes,
           int64_t said);

  const LibZip* zip_;
  struct zip_file* file_;
  std::string name_, where_;
  int64_t max_bytes_;
  int64_t said_;  // the uncompressed size, in bytes, that the archive claims
};

// An open archive. Thread-compatible.
class ZipReader {
 public:
  // Opens an archive. `what` says in messages what the file should be, such as "an .npz file". The errors of
  // InputFile::Open; DataLoss when it is no archive, is damaged, has the same name twice, or has more than 65,536
  // entries.
  static absl::StatusOr<ZipReader> Open(const std::string& path, absl::string_view what);
  ~ZipReader();
  ZipReader(ZipReader&& other);

  const std::string& path() const { return path_; }
  int64_t num_entries() const { return num_entries_; }
  // Opens entry number `i` in the order of the archive's directory, 0 <= i < num_entries(), stored or deflated.
  absl::StatusOr<ZipEntry> OpenEntry(int64_t i) const;
  // Returns the number of the entry called `name`; -1 if there is none.
  int64_t Find(const std::string& name) const;

 private:
  ZipReader(const LibZip* zip, std::string path, struct zip* archive, int64_t num_entries)
      : zip_(zip), path_(std::move(path)), archive_(archive), num_entries_(num_entries) {}

  const LibZip* zip_;
  std::string path_;
  struct zip* archive_;
  int64_t num_entries_;
};

// Returns the bytes of the entries `names` of the archive at `path`, which may have others. `what` is as in
// ZipReader::Open. DataLoss for damage and if one is missing; InvalidArgument if the archive claims that one has more
// than `max_bytes`.
absl::StatusOr<std::map<std::string, std::string>> ReadZipEntries(const std::string& path, absl::string_view what,
                                                                  const std::vector<std::string>& names,
                                                                  int64_t max_bytes = int64_t{16} << 30);

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_ZIP_READER_H_
