// FileShardScope: restricts the datasets of one of several workers to its share of the files (AutoShard::kFile).
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

// During its lifetime, datasets of files that this thread makes (Dataset::TFRecord, TextLine, Csv, FixedLengthRecord,
// Idx, ListFiles) have only every `count`-th file, from number `index` on; 0 <= index < count. A dataset with fewer
// files than `count` is an error. So is a Zip of datasets with different numbers of files, because with a share of the
// files it would pair other elements than with all of them. Datasets that user functions make for FlatMap or Interleave
// keep all their files: they are made from elements whose files were dealt out already. Only one scope at a time in a
// thread.
class FileShardScope {
 public:
  FileShardScope(int count, int index);
  ~FileShardScope();
  FileShardScope(const FileShardScope&) = delete;
  FileShardScope& operator=(const FileShardScope&) = delete;

  // The number of datasets that read files and were made in this scope so far.
  int64_t datasets() const { return static_cast<int64_t>(sources_.size()); }
  // Describes the first source of `dataset` whose files were not dealt out, such as "Range (input.cc:12)": every worker
  // would read all of its elements. Empty if there is none.
  std::string SourceNotDealt(const Dataset& dataset) const;

  // During its lifetime, this thread's FileShardScope, if there is one, has no effect.
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
    std::shared_ptr<const void> stage;  // identifies the dataset
    size_t files;                       // number of files for all workers
  };
  // Returns the recorded source of this stage, or null if there is none.
  const Source* Find(const std::shared_ptr<const void>& stage) const;

  const int count_, index_;
  std::vector<Source> sources_;
};

// Returns the path for files that a dataset makes, such as a cache: `path`, with the worker's number if files are dealt
// out.
std::string PathOfShard(const std::string& path);
// Returns this worker's share of a dataset's `files`. InvalidArgument if some worker would get none.
absl::StatusOr<std::vector<std::string>> FilesOfShard(std::vector<std::string> files);
// Records and returns the dataset that was made of this worker's share; all workers together have `files` files.
Dataset NoteShard(Dataset dataset, size_t files);
// Checks the datasets of a Zip. Returns InvalidArgument, which names their sources, if a FileShardScope of this thread
// deals files out and the datasets have different numbers of them.
absl::Status CheckZipOfShard(const std::vector<Dataset>& datasets);

}  // namespace tandem

#endif  // TANDEM_DATA_FILE_SHARD_H_
