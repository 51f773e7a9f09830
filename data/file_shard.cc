#include "data/file_shard.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace tandem {
namespace {

thread_local FileShardScope* current = nullptr;

}  // namespace

FileShardScope::FileShardScope(int count, int index) : count_(count), index_(index) { current = this; }
FileShardScope::~FileShardScope() { current = nullptr; }

FileShardScope::Pause::Pause() : paused_(std::exchange(current, nullptr)) {}
FileShardScope::Pause::~Pause() { current = paused_; }

absl::StatusOr<std::vector<std::string>> FilesOfShard(std::vector<std::string> files) {
  if (current == nullptr) return files;
  ++current->datasets_;
  if (files.size() < static_cast<size_t>(current->count_)) {
    return absl::InvalidArgumentError(absl::StrCat(
        files.size(), files.size() == 1 ? " file" : " files", " for ", current->count_,
        " workers that are to read files of their own; divide them into more, or have each worker take its batches of "
        "all (AutoShard::kBatch)"));
  }
  std::vector<std::string> mine;
  for (size_t i = current->index_; i < files.size(); i += current->count_) mine.push_back(std::move(files[i]));
  return mine;
}

}  // namespace tandem
