// Reads the bytes of an HDF5 file, which may be malformed or malicious, within limits.
#ifndef TANDEM_DATA_FILES_HDF5_INPUT_H_
#define TANDEM_DATA_FILES_HDF5_INPUT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/env.h"

namespace tandem::hdf5 {

// Every byte of structure that is read counts against a budget, a few times the file's size: a small file that makes
// its reader read or keep the same bytes many times soon ends in an error. Thread-compatible.
class Input {
 public:
  explicit Input(std::shared_ptr<const RandomAccessFile> file);

  const std::shared_ptr<const RandomAccessFile>& file() const { return file_; }
  uint64_t size() const { return static_cast<uint64_t>(file_->size()); }

  // Returns `size` bytes from `offset` on. `what` describes them in messages, such as "a group's heap". DataLoss when
  // they are not all in the file, or the budget is used up.
  absl::StatusOr<std::string> Take(uint64_t offset, uint64_t size, absl::string_view what);
  // Returns DataLoss when not all of the `size` bytes from `offset` on are in the file.
  absl::Status CheckRange(uint64_t offset, uint64_t size, absl::string_view what) const;
  // Subtracts bytes that are kept in memory, or read again, from the budget. DataLoss when the budget is used up.
  absl::Status Spend(uint64_t offset, uint64_t bytes);

  // The group or data set that is being read, "/" or "/dense/kernel:0", for messages.
  const std::string& path() const { return path_; }
  void set_path(std::string path) { path_ = std::move(path); }
  // Returns "FILE: PATH", where PATH is path().
  std::string where() const;

  // Returns DataLoss: "FILE: offset N: PATH: what: the file is damaged ...".
  absl::Status Damaged(uint64_t offset, absl::string_view what) const;
  // Returns Unimplemented for a file that may be valid, but has something unsupported, `what`, at `offset`. `remedy`
  // tells the user how to write a file that can be read.
  absl::Status Refused(uint64_t offset, absl::string_view what, absl::string_view remedy) const;

 private:
  const std::shared_ptr<const RandomAccessFile> file_;
  std::string path_ = "/";
  uint64_t budget_;  // bytes that may still be read or kept
};

}  // namespace tandem::hdf5

#endif  // TANDEM_DATA_FILES_HDF5_INPUT_H_
