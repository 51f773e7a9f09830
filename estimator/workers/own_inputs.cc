#include "estimator/workers/own_inputs.h"

#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "estimator/workers/worker_positions.h"

namespace tandem {

absl::StatusOr<bool> OwnInputs::Combine(bool left, BatchRound* round) {
  std::vector<int64_t> mine = round->rows;
  mine.push_back(left ? 1 : 0);
  std::vector<int64_t> all(mine.size() * workers_->size());
  const auto bytes = [](auto& numbers) {
    return absl::MakeSpan(reinterpret_cast<std::byte*>(numbers.data()), numbers.size() * sizeof(int64_t));
  };
  TD_RETURN_IF_ERROR(workers_->group().AllGather(bytes(mine), bytes(all), "the rows of all workers' batches"));
  round->rows.clear();
  bool any = false;
  for (size_t i = 0; i < all.size(); ++i) {
    if ((i + 1) % mine.size() == 0) {
      any = any || all[i] != 0;
    } else {
      round->rows.push_back(all[i]);
      if (all[i] > 0) ++batches_;
    }
  }
  round->examples = std::accumulate(round->rows.begin(), round->rows.end(), int64_t{0});
  return any;
}

absl::StatusOr<bool> OwnInputs::Next(BatchRound* round) {
  for (;;) {
    TD_ASSIGN_OR_RETURN(const bool left, mine_->NextInPass(round));
    TD_ASSIGN_OR_RETURN(const bool any, Combine(left, round));
    if (any || !std::exchange(restored_, false)) {
      restored_ = false;
      return any;
    }
    TD_LOG(INFO) << "The inputs of all workers had ended where the checkpoint was saved; starting them again.";
    TD_RETURN_IF_ERROR(mine_->StartAgain());
  }
}

absl::StatusOr<std::string> OwnInputs::SavePosition() {
  TD_ASSIGN_OR_RETURN(const std::string mine, mine_->SaveState());
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> all, workers_->Gather(mine, "the positions of the inputs"));
  return WorkerPositions{.states = all}.ToText();
}

absl::Status OwnInputs::RestorePosition(absl::string_view position) {
  TD_ASSIGN_OR_RETURN(const std::optional<WorkerPositions> saved, WorkerPositions::FromText(position));
  if (!saved.has_value() || saved->shared) {
    return absl::FailedPreconditionError(
        "the checkpoint has one position, in an input that all workers shared, and each has its own now (auto_shard)");
  }
  const std::vector<std::string>& positions = saved->states;
  if (static_cast<int>(positions.size()) != workers_->size()) {
    return absl::FailedPreconditionError(absl::StrCat("the checkpoint has the positions of ", positions.size(),
                                                      " workers' own inputs, and there are ", workers_->size(),
                                                      " workers"));
  }
  const std::string& own = positions[workers_->rank()];
  const absl::Status mine = own.empty() ? mine_->StartAgain() : mine_->RestoreState(own);
  if (!mine.ok() && !absl::IsFailedPrecondition(mine)) return mine;
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> problems,
                      workers_->Gather(mine.message(), "whether the inputs are those of the checkpoint"));
  for (size_t r = 0; r < problems.size(); ++r) {
    if (problems[r].empty()) continue;
    TD_RETURN_IF_ERROR(mine_->StartAgain());
    return absl::FailedPreconditionError(absl::StrCat("of the worker of rank ", r, ", ", problems[r]));
  }
  restored_ = true;
  return absl::OkStatus();
}

}  // namespace tandem
