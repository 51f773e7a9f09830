#include "tools/checkpoint/list.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "base/text_file.h"
#include "estimator/checkpoint/checkpoint_manager.h"
#include "estimator/checkpoint/checkpoint_reader.h"
#include "estimator/evaluation/best_record.h"

namespace tandem {
namespace {

// Returns the checkpoint that the directory's pointer file names as the latest; empty if there is no pointer file.
absl::StatusOr<std::string> PointedTo(Env* env, const std::string& dir) {
  const std::string path = JoinPath(dir, kPointerName);
  absl::StatusOr<std::string> text = ReadTextFile(env, path);
  if (absl::IsNotFound(text.status())) return std::string();
  TD_RETURN_IF_ERROR(text.status());
  TD_ASSIGN_OR_RETURN(const PointerFile pointer, ParsePointerFile(*text, path));
  return pointer.latest;
}

// Returns a line for each evaluation: "best: loss 0.25 at step 100" or "best: accuracy 0.9 (max) at step 100". The
// newest checkpoint says which metric decides, and the best values up to it. Later evaluations are read from the logs.
absl::StatusOr<std::string> BestText(Env* env, const std::string& dir, const std::string& checkpoint) {
  CheckpointData data;
  TD_RETURN_IF_ERROR(ReadCheckpointState(env, checkpoint, &data));
  const std::string& saved_text = data.extra["best"];
  TD_ASSIGN_OR_RETURN(const BestRecords saved, BestRecords::FromJson(saved_text));
  std::optional<KeepBest> rule;
  for (const auto& [name, record] : saved.records()) {
    if (record.metric == "loss" && record.direction == MetricDirection::kMin) continue;
    rule = KeepBest{.metric = record.metric, .direction = record.direction, .evaluation = name};
  }
  BestRecords best(rule);
  TD_RETURN_IF_ERROR(best.Restore(saved_text));
  TD_RETURN_IF_ERROR(best.AddFromLogs(env, dir, std::numeric_limits<int64_t>::max()));
  std::string text;
  for (const auto& [name, record] : best.records()) {
    absl::StrAppendFormat(&text, "best%s%s: %s %.8g%s at step %d", name.empty() ? "" : " of ", PrintableLine(name),
                          PrintableLine(record.metric), record.value,
                          record.direction == MetricDirection::kMax ? " (max)" : "", record.global_step);
    if (record.steps > 0) absl::StrAppend(&text, ", over ", record.steps, " steps of the input");
    text += "\n";
  }
  return text;
}

}  // namespace

absl::StatusOr<CheckpointList> ListModelDir(Env* env, const std::string& dir) {
  TD_RETURN_IF_ERROR(env->ListDir(dir).status());
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> paths, CheckpointManager(env, dir).ListCheckpoints());
  if (paths.empty()) {
    return absl::NotFoundError(absl::StrCat(dir, ": there is no checkpoint (model.ckpt-N) in it; name a model_dir"));
  }
  const absl::StatusOr<std::string> pointed = PointedTo(env, dir);
  if (absl::IsResourceExhausted(pointed.status())) return pointed.status();
  std::vector<std::string> damages;
  if (!pointed.ok()) damages.emplace_back(pointed.status().message());
  CheckpointList list;
  size_t width = 10;
  for (const std::string& path : paths) width = std::max(width, BaseName(path).size());
  absl::StrAppendFormat(&list.text, "%-*s  %10s %14s %10s %6s\n", width, "checkpoint", "step", "bytes", "variables",
                        "slots");
  std::string newest;
  for (const std::string& path : paths) {
    const std::string name = BaseName(path);
    absl::StrAppendFormat(&list.text, "%-*s  ", width, name);
    const auto reader = CheckpointReader::Open(env, path);
    // A lack of memory or file descriptors does not mean that the checkpoint is damaged.
    if (absl::IsResourceExhausted(reader.status())) return reader.status();
    const bool renamed = reader.ok() && (*reader)->global_step() != CheckpointStep(name);
    if (!reader.ok() || renamed) {
      damages.push_back(renamed ? absl::StrCat(path, ": is of step ", (*reader)->global_step().value_or(0),
                                               ": the directory was renamed")
                                : std::string(reader.status().message()));
      absl::StrAppend(&list.text, "damaged: ", PrintableLine(damages.back()), "\n");
      continue;
    }
    int64_t bytes = 0;
    TD_ASSIGN_OR_RETURN(const std::vector<std::string> files, env->ListDir(path));
    for (const std::string& file : files) {
      TD_ASSIGN_OR_RETURN(const int64_t size, env->FileSize(JoinPath(path, file)));
      bytes += size;
    }
    absl::StrAppendFormat(&list.text, "%10d %14d %10d %6d%s\n", *(*reader)->global_step(), bytes,
                          (*reader)->variables().size(), (*reader)->slots().size(),
                          pointed.ok() && *pointed == name ? "  the latest" : "");
    newest = path;
  }
  if (pointed.ok() && pointed->empty()) {
    absl::StrAppend(&list.text, "the file that names the latest (", kPointerName,
                    ") is not there: the newest intact one is taken\n");
  } else if (pointed.ok() && !env->Exists(JoinPath(dir, *pointed))) {
    damages.push_back(absl::StrCat(JoinPath(dir, kPointerName), ": names ", *pointed, ", which is not there"));
  }
  if (!newest.empty()) {
    TD_ASSIGN_OR_RETURN(const std::string best, BestText(env, dir, newest));
    list.text += best;
  }
  if (!damages.empty()) list.damage = absl::DataLossError(absl::StrJoin(damages, "\n"));
  return list;
}

}  // namespace tandem
