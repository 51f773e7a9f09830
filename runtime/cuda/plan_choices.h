// Which of several ways of computing a library call was measured to be the fastest, kept so that later sessions repeat
// it: results depend on the way.
#ifndef TANDEM_RUNTIME_CUDA_PLAN_CHOICES_H_
#define TANDEM_RUNTIME_CUDA_PLAN_CHOICES_H_

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
  // Errors: DataLoss for text that is not such a file.
  static absl::StatusOr<PlanChoices> FromJson(absl::string_view text);
  // An empty table where there is no file. Errors: DataLoss that names the file, and those of reading.
  static absl::StatusOr<PlanChoices> Load(Env* env, const std::string& path);

  std::string ToJson() const;
  // Replaces the file as a whole.
  absl::Status Save(Env* env, const std::string& path) const;

  // Null when nothing was recorded.
  const std::string* Find(const std::string& key) const;
  void Record(const std::string& key, const std::string& candidate);
  // Whether anything was recorded since the table was made.
  bool changed() const { return changed_; }
  size_t size() const { return choices_.size(); }

 private:
  std::map<std::string, std::string> choices_;
  bool changed_ = false;
};

// The table of a file: what it holds is repeated, what it lacks is measured and added. Without a file the libraries'
// own preferences stand.
class PlanFile {
 public:
  // `path` may be empty: then the environment variable TANDEM_GPU_PLANS names the file; null without it. Errors: those
  // of PlanChoices::Load.
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

// All of the call that decides about its computation, and what the choice holds for.
std::string PlanChoiceKey(const format::LibraryCall& call, absl::string_view device_name,
                          absl::string_view library_version);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_PLAN_CHOICES_H_
