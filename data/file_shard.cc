#include "data/file_shard.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "data/dataset.h"
#include "data/stage_times.h"
#include "data/stages.h"

namespace tandem {
namespace {

thread_local FileShardScope* current = nullptr;

using data_internal::StageText;

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

Dataset NoteShard(Dataset dataset, size_t files) {
  if (current != nullptr && dataset.status().ok()) {
    current->sources_.push_back({data_internal::DatasetAccess::Node(dataset)->info().stages.back(), files});
  }
  return dataset;
}

absl::Status CheckZipOfShard(const std::vector<Dataset>& datasets) {
  if (current == nullptr) return absl::OkStatus();
  // One entry for each dataset of the Zip that reads files: how many files each of its sources has, as numbers, and as
  // text for the message.
  std::vector<std::pair<std::vector<size_t>, std::string>> all;
  for (const Dataset& dataset : datasets) {
    std::vector<size_t> files;
    std::vector<std::string> texts;
    for (const auto& stage : data_internal::DatasetAccess::Node(dataset)->info().sources) {
      const FileShardScope::Source* source = current->Find(stage);
      if (source == nullptr) continue;
      files.push_back(source->files);
      texts.push_back(absl::StrCat(StageText(*stage), " has ", source->files, source->files == 1 ? " file" : " files"));
    }
    if (!files.empty()) all.emplace_back(std::move(files), absl::StrJoin(texts, ", "));
  }
  for (const auto& [files, text] : all) {
    if (files == all[0].first) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        all[0].second, ", and ", text, ": where each worker reads files of its own, datasets that are zipped need as ",
        "many files, or elements would meet others than in one process; divide them alike, or have each worker take ",
        "its batches of all (AutoShard::kBatch)"));
  }
  return absl::OkStatus();
}

const FileShardScope::Source* FileShardScope::Find(const std::shared_ptr<const void>& stage) const {
  const auto found =
      std::find_if(sources_.begin(), sources_.end(), [&](const Source& source) { return source.stage == stage; });
  return found == sources_.end() ? nullptr : &*found;
}

std::string FileShardScope::SourceNotDealt(const Dataset& dataset) const {
  if (!dataset.status().ok()) return "";
  for (const auto& stage : data_internal::DatasetAccess::Node(dataset)->info().sources) {
    if (Find(stage) == nullptr) return StageText(*stage);
  }
  return "";
}

}  // namespace tandem
