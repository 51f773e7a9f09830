#include "estimator/workers/shared_input.h"

#include <optional>

#include "base/logging.h"
#include "base/status_macros.h"
#include "estimator/workers/worker_positions.h"

namespace tandem {

absl::Status SharedInput::RestorePosition(absl::string_view position) {
  TD_ASSIGN_OR_RETURN(const std::optional<WorkerPositions> saved, WorkerPositions::FromText(position));
  if (!saved.has_value()) return dealer_.RestoreState(position);
  if (!saved->shared) {
    return absl::FailedPreconditionError(
        "the checkpoint has the positions of workers with an input of their own each (auto_shard: off or file)");
  }
  TD_LOG(INFO) << saved->EarliestText();
  const std::string& state = saved->states[saved->Earliest()];
  return state.empty() ? absl::OkStatus() : dealer_.RestoreState(state);
}

}  // namespace tandem
