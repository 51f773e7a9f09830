#include "cluster/cluster.h"

#include "absl/strings/str_cat.h"

namespace tandem {

absl::string_view Name(TaskType type) {
  switch (type) {
    case TaskType::kChief:
      return "chief";
    case TaskType::kWorker:
      return "worker";
    case TaskType::kParameterServer:
      return "ps";
    case TaskType::kEvaluator:
      return "evaluator";
  }
  return "";
}

std::string Cluster::Text() const {
  std::string text = absl::StrCat(Name(task.type), " ", task.index);
  if (rank >= 0) absl::StrAppend(&text, ", rank ", rank, " of ", world_size);
  if (local_rank >= 0) absl::StrAppend(&text, ", local rank ", local_rank);
  if (local_rank >= 0 && local_world_size > 0) absl::StrAppend(&text, " of ", local_world_size);
  if (!coordinator.empty()) absl::StrAppend(&text, ", rank 0 at ", coordinator);
  return absl::StrCat(text, ", by ", source);
}

}  // namespace tandem
