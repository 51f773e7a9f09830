// FileShardScope: which files of a dataset one of several workers reads (AutoShard::kFile).
#ifndef TANDEM_DATA_FILE_SHARD_H_
#define TANDEM_DATA_FILE_SHARD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tandem {

class Dataset;

// While it lives, datasets of files that are made in this thread (Dataset::TFRecord, TextLine, Csv, FixedLengthRecord,
// Idx, ListFiles) have every `count`-th of their files only, from number `index` on; 0 <= index < count. A dataset of
// fewer files than `count` is an error. Those that functions of users make for FlatMap or Interleave are left as they
// are: they are made of files that have been dealt out. One at a time in a thread.
class FileShardScope {
 public:
  FileShardScope(int count, int index);
  ~FileShardScope();
  FileShardScope(const FileShardScope&) = delete;
  FileShardScope& operator=(const FileShardScope&) = delete;

  // Datasets of files so far.
  int64_t datasets() const { return static_cast<int64_t>(sources_.size()); }
  // Whether `dataset` is made of one of them.
  bool IsPartOf(const Dataset& dataset) const;

  // While it lives, the scope of this thread, if there is one, does nothing.
  class Pause {
   public:
    Pause();
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    FileShardScope* const paused_;
  };

 private:
  friend absl::StatusOr<std::vector<std::string>> FilesOfShard(std::vector<std::string> files);
  friend Dataset NoteShard(Dataset dataset);
  friend std::string PathOfShard(const std::string& path);
  const int count_, index_;
  std::vector<std::shared_ptr<const void>> sources_;  // what tells the stages of datasets from others
};

// Where a dataset keeps what it makes of its files: `path`, with the worker's number where files are dealt out.
std::string PathOfShard(const std::string& path);
// Of all `files` of a dataset those that it is to have here. InvalidArgument where there is none for some worker.
absl::StatusOr<std::vector<std::string>> FilesOfShard(std::vector<std::string> files);
// The dataset that was made of them.
Dataset NoteShard(Dataset dataset);

}  // namespace tandem

#endif  // TANDEM_DATA_FILE_SHARD_H_
