// FileShardScope: which files of a dataset one of several workers reads (AutoShard::kFile).
#ifndef TANDEM_DATA_FILE_SHARD_H_
#define TANDEM_DATA_FILE_SHARD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tandem {

class Dataset;

// While it lives, datasets of files that are made in this thread (Dataset::TFRecord, TextLine, Csv, FixedLengthRecord,
// Idx, ListFiles) have every `count`-th of their files only, from number `index` on; 0 <= index < count. A dataset of
// fewer files than `count` is an error, and so is a Zip of datasets with different numbers of files, whose elements
// would meet others. Those that functions of users make for FlatMap or Interleave are left as they are: they are made
// of files that have been dealt out. One at a time in a thread.
class FileShardScope {
 public:
  FileShardScope(int count, int index);
  ~FileShardScope();
  FileShardScope(const FileShardScope&) = delete;
  FileShardScope& operator=(const FileShardScope&) = delete;

  // Datasets of files so far.
  int64_t datasets() const { return static_cast<int64_t>(sources_.size()); }
  // The first source of `dataset` that is none of them, such as "Range (input.cc:12)", of which every worker would have
  // all elements; empty where there is none.
  std::string SourceNotDealt(const Dataset& dataset) const;

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
  friend Dataset NoteShard(Dataset dataset, size_t files);
  friend std::string PathOfShard(const std::string& path);
  friend absl::Status CheckZipOfShard(const std::vector<Dataset>& datasets);
  struct Source {
    std::shared_ptr<const void> stage;  // tells datasets from others
    size_t files;                       // of all workers
  };
  // Null where the stage is none of theirs.
  const Source* Find(const std::shared_ptr<const void>& stage) const;

  const int count_, index_;
  std::vector<Source> sources_;
};

// Where a dataset keeps what it makes of its files: `path`, with the worker's number where files are dealt out.
std::string PathOfShard(const std::string& path);
// Of all `files` of a dataset those that it is to have here. InvalidArgument where there is none for some worker.
absl::StatusOr<std::vector<std::string>> FilesOfShard(std::vector<std::string> files);
// The dataset that was made of them, of which there are `files` on all workers.
Dataset NoteShard(Dataset dataset, size_t files);
// InvalidArgument, with the sources, where files are dealt out and the datasets have different numbers of them.
absl::Status CheckZipOfShard(const std::vector<Dataset>& datasets);

}  // namespace tandem

#endif  // TANDEM_DATA_FILE_SHARD_H_
