// Stores which of several ways of computing a library call was measured to be the fastest, so that later sessions
// repeat the choice: results depend on it.
#ifndef TANDEM_RUNTIME_CUDA_LIBRARIES_PLAN_CHOICES_H_
#define TANDEM_RUNTIME_CUDA_LIBRARIES_PLAN_CHOICES_H_

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/env.h"
#include "runtime/format/index.h"

namespace tandem {

// A table from calls (PlanChoiceKey) to candidates (TunableCall::CandidateName). Kept as a JSON file:
// {"version": 1, "choices": {"conv2d x=[256,56,56,64] ... | NVIDIA H200 | cuDNN 9.19.0": "eng62_k2=4", ...}}.
class PlanChoices {
 public:
  // Reads a table from text. Errors: DataLoss for text that is not such a file.
  static absl::StatusOr<PlanChoices> FromJson(absl::string_view text);
  // Reads a table from a file; returns an empty one if there is no file. Errors: DataLoss that names the file, and
  // those of reading.
  static absl::StatusOr<PlanChoices> Load(Env* env, const std::string& path);

  std::string ToJson() const;
  // Replaces the file as a whole.
  absl::Status Save(Env* env, const std::string& path) const;

  // Returns the choice that was recorded for the key; null if there is none.
  const std::string* Find(const std::string& key) const;
  void Record(const std::string& key, const std::string& candidate);
  // True if anything was recorded since the table was made.
  bool changed() const { return changed_; }
  size_t size() const { return choices_.size(); }

 private:
  std::map<std::string, std::string> choices_;
  bool changed_ = false;
};

// The table of a file: choices in it are repeated, missing ones are measured and added. Without a file the libraries'
// own preferences are used.
class PlanFile {
 public:
  // Opens the file. `path` may be empty: then the environment variable TANDEM_GPU_PLANS names the file; returns null
  // without it. Errors: those of PlanChoices::Load.
  static absl::StatusOr<std::unique_ptr<PlanFile>> Open(Env* env, const std::string& path);

  PlanChoices* choices() { return &choices_; }
  // Writes the file when something was added.
  absl::Status Save() const;

 private:
  PlanFile(Env* env, std::string path, PlanChoices choices)
      : env_(env), path_(std::move(path)), choices_(std::move(choices)) {}

  Env* env_;
  std::string path_;
  PlanChoices choices_;
};

// Returns a key of all properties of the call that its computation depends on, and of the device and library that the
// choice holds for.
std::string PlanChoiceKey(const format::LibraryCall& call, absl::string_view device_name,
                          absl::string_view library_version);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_LIBRARIES_PLAN_CHOICES_H_
