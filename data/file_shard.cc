#include "data/file_shard.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "data/dataset.h"
#include "data/stages.h"

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
  if (files.size() < static_cast<size_t>(current->count_)) {
    return absl::InvalidArgumentError(absl::StrCat(files.size(), files.size() == 1 ? " file" : " files", " for ",
                                                   current->count_,
                                                   " workers that are to read files of their own; every dataset of "
                                                   "files needs one for each: divide them into more, "
                                                   "or have each worker take its batches of all (AutoShard::kBatch)"));
  }
  std::vector<std::string> mine;
  for (size_t i = current->index_; i < files.size(); i += current->count_) mine.push_back(std::move(files[i]));
  return mine;
}

std::string PathOfShard(const std::string& path) {
  return current == nullptr ? path : absl::StrCat(path, "-", current->index_, "-of-", current->count_);
}

Dataset NoteShard(Dataset dataset) {
  if (current != nullptr && dataset.status().ok()) {
    current->sources_.push_back(data_internal::DatasetAccess::Node(dataset)->info().stages.back());
  }
  return dataset;
}

bool FileShardScope::IsPartOf(const Dataset& dataset) const {
  if (!dataset.status().ok()) return false;
  const data_internal::StageList& stages = data_internal::DatasetAccess::Node(dataset)->info().stages;
  return std::any_of(stages.begin(), stages.end(), [&](const auto& stage) {
    return std::find(sources_.begin(), sources_.end(), stage) != sources_.end();
  });
}

}  // namespace tandem
