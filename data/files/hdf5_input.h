// An HDF5 file as its reader sees it: any file at all, from which structures are taken within limits.
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

// Every byte of structure that is taken counts against a budget, a few times the file's size: a small file that leads
// its reader over the same bytes again and again, or makes it keep them many times, ends in an error soon.
// Thread-compatible.
class Input {
 public:
  explicit Input(std::shared_ptr<const RandomAccessFile> file);

  const std::shared_ptr<const RandomAccessFile>& file() const { return file_; }
  uint64_t size() const { return static_cast<uint64_t>(file_->size()); }

  // `size` bytes from `offset` on, which are said to be `what`: "a group's heap". DataLoss when they lie outside of the
  // file, or the budget is used up.
  absl::StatusOr<std::string> Take(uint64_t offset, uint64_t size, absl::string_view what);
  // DataLoss when not all these bytes are in the file.
  absl::Status CheckRange(uint64_t offset, uint64_t size, absl::string_view what) const;
  // Counts bytes that are kept, or looked at again.
  absl::Status Spend(uint64_t offset, uint64_t bytes);

  // The group or data set that is being read, "/" or "/dense/kernel:0", for messages.
  const std::string& path() const { return path_; }
  void set_path(std::string path) { path_ = std::move(path); }
  // "FILE: PATH".
  std::string where() const;

  // DataLoss: "FILE: offset N: PATH: what: the file is damaged ...".
  absl::Status Damaged(uint64_t offset, absl::string_view what) const;
  // Unimplemented: the file may be right, but nothing here reads `what` it has at `offset`; `remedy` says how to write
  // a file that can be read.
  absl::Status Refused(uint64_t offset, absl::string_view what, absl::string_view remedy) const;

 private:
  const std::shared_ptr<const RandomAccessFile> file_;
  std::string path_ = "/";
  uint64_t budget_;  // in bytes
};

}  // namespace tandem::hdf5

#endif  // TANDEM_DATA_FILES_HDF5_INPUT_H_
