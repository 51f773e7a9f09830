// Reads a regular file at given offsets.
#ifndef TANDEM_DATA_FILES_REGULAR_FILE_H_
#define TANDEM_DATA_FILES_REGULAR_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tandem/base/api.h"

namespace TANDEM_API tandem {

// Thread-compatible; once open, thread-safe.
class RegularFile {
 public:
  // Opens nothing yet.
  explicit RegularFile(std::string path);
  ~RegularFile();
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;

  // Errors are those of PosixError. InvalidArgument when it is not a regular file; never waits for a FIFO's writer.
  absl::Status Open();

  // Reads up to `bytes` from `offset` on; less only at the end. Errors are those of PosixError.
  absl::StatusOr<int64_t> ReadAt(int64_t offset, void* to, int64_t bytes) const;

  const std::string& path() const { return path_; }
  // Size in bytes when it was opened.
  int64_t size() const { return size_; }

 private:
  const std::string path_;
  int fd_ = -1;
  int64_t size_ = 0;
};

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_REGULAR_FILE_H_
