// callbacks::CSVLogger, which writes a row for each epoch.
#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/env.h"
#include "base/status_macros.h"
#include "estimator/keras/callback_util.h"
#include "estimator/keras/callbacks.h"
#include "estimator/keras/python_format.h"

namespace tandem::keras::callbacks {
namespace {

class CSVLoggerCallback : public Callback {
 public:
  CSVLoggerCallback(std::string filename, const CSVLoggerOptions& options, SourceLocation loc)
      : filename_(std::move(filename)), options_(options), loc_(loc) {}
  std::string name() const override { return "CSVLogger"; }

  absl::Status OnTrainBegin() override {
    if (filename_.empty()) return AtLine(absl::InvalidArgumentError("filename is empty"), loc_);
    if (options_.separator.size() != 1) {
      return AtLine(
          absl::InvalidArgumentError(absl::StrCat("separator must be one character, got \"", options_.separator, "\"")),
          loc_);
    }
    file_ = nullptr;
    keys_.clear();
    size_ = 0;
    // If the run goes on from a checkpoint, RestoreState opens the file and truncates it to the size that it had then.
    return params().resumes ? absl::OkStatus() : AtLine(Start(), loc_);
  }

  absl::Status OnEpochEnd(int64_t epoch, Logs& logs) override {
    if (!params().is_chief) return absl::OkStatus();
    if (file_ == nullptr) TD_RETURN_IF_ERROR(AtLine(Start(), loc_));
    std::string rows;
    if (keys_.empty()) {
      SetKeys(logs);
      if (size_ == 0) AddRow("epoch", keys_, &rows);
    }
    std::vector<std::string> values;
    for (const std::string& key : keys_) {
      // In Keras the learning rate is a numpy.float32, and all other values are Python numbers.
      values.push_back(!logs.Has(key) ? "NA"
                       : key == "lr"  ? PythonNumber(static_cast<float>(logs[key]))
                                      : PythonNumber(logs[key]));
    }
    AddRow(absl::StrCat(epoch), values, &rows);
    size_ += static_cast<int64_t>(rows.size());
    return AtLine(file_->Append(rows), loc_);
  }

  absl::Status OnTrainEnd(const Logs&) override {
    if (file_ == nullptr) return absl::OkStatus();
    const absl::Status closed = file_->Close();
    file_ = nullptr;
    return AtLine(closed, loc_);
  }

  absl::StatusOr<CallbackState> SaveState() override {
    return CallbackState{.text = JsonString(nlohmann::ordered_json{{"keys", keys_}, {"size", size_}})};
  }
  absl::Status RestoreState(const CallbackState& state) override {
    StateReader reader(state);
    reader.Read("size", &size_);
    TD_RETURN_IF_ERROR(reader.status());
    const nlohmann::json keys = reader.json().value("keys", nlohmann::json());
    if (!keys.is_array()) return absl::DataLossError("the state is damaged");
    keys_.clear();
    for (const auto& key : keys) {
      if (!key.is_string()) return absl::DataLossError("the state is damaged");
      keys_.push_back(key.get<std::string>());
    }
    if (!params().is_chief) return absl::OkStatus();
    const absl::StatusOr<std::string> text = Env::Default()->ReadFile(filename_);
    if (!text.ok()) return AtLine(text.status(), loc_);
    if (static_cast<int64_t>(text->size()) < size_) {
      return AtLine(absl::FailedPreconditionError(
                        absl::StrCat("\"", filename_, "\" has ", text->size(), " bytes, and had ", size_,
                                     " when the run that goes on was saved; put it back, or leave out the callback")),
                    loc_);
    }
    return AtLine(Create(absl::string_view(*text).substr(0, size_)), loc_);
  }

 private:
  absl::Status Start() {
    if (!params().is_chief) return absl::OkStatus();
    std::string before;
    if (options_.append && Env::Default()->Exists(filename_)) {
      TD_ASSIGN_OR_RETURN(before, Env::Default()->ReadFile(filename_));
    }
    size_ = static_cast<int64_t>(before.size());
    return Create(before);
  }

  // Writes a new file with this content, which stays open for more rows. The old file is replaced once the new one is
  // complete.
  absl::Status Create(absl::string_view content) {
    TD_ASSIGN_OR_RETURN(TemporaryFile file, Env::Default()->CreateTemporary(filename_));
    TD_RETURN_IF_ERROR(file.file->Append(content));
    TD_RETURN_IF_ERROR(Env::Default()->Rename(file.path, filename_));
    file_ = std::move(file.file);
    return absl::OkStatus();
  }

  void SetKeys(const Logs& logs) {
    for (const auto& value : logs.values()) keys_.push_back(value.first);
    std::sort(keys_.begin(), keys_.end());
    const bool validated =
        std::any_of(keys_.begin(), keys_.end(), [](const std::string& key) { return absl::StartsWith(key, "val_"); });
    if (validated) return;
    // Also adds columns for validation, because later epochs may have it.
    const std::vector<std::string> names = keys_;
    for (const std::string& key : names) keys_.push_back(absl::StrCat("val_", key));
  }

  std::string Quoted(const std::string& cell) const {
    const bool plain = cell.find_first_of(absl::StrCat("\"\r\n", options_.separator)) == std::string::npos;
    return plain ? cell : absl::StrCat("\"", absl::StrReplaceAll(cell, {{"\"", "\"\""}}), "\"");
  }
  void AddRow(const std::string& first, const std::vector<std::string>& rest, std::string* text) const {
    std::vector<std::string> cells = {first};
    for (const std::string& cell : rest) cells.push_back(Quoted(cell));
    absl::StrAppend(text, absl::StrJoin(cells, options_.separator), "\r\n");
  }

  const std::string filename_;
  const CSVLoggerOptions options_;
  const SourceLocation loc_;
  std::unique_ptr<WritableFile> file_;
  std::vector<std::string> keys_;
  int64_t size_ = 0;  // size of the file in bytes
};

}  // namespace

CallbackPtr CSVLogger(const std::string& filename, const CSVLoggerOptions& options, SourceLocation loc) {
  return std::make_shared<CSVLoggerCallback>(filename, options, loc);
}

}  // namespace tandem::keras::callbacks
