// What a program is asked to make again of a run that it has trained: --replay_step and the flags that go with it,
// which every program has that trains with an Estimator and reads its flags with RunProgram (docs/guide/replay.md).
#ifndef TANDEM_ESTIMATOR_REPLAY_REPLAY_REQUEST_H_
#define TANDEM_ESTIMATOR_REPLAY_REPLAY_REQUEST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tandem {

struct ReplayRequest {
  int64_t step = 0;                       // so many steps were finished before it; 0 is the first
  std::vector<std::string> fetches = {};  // names of tensors
  std::string fetch_line = "";            // "model.cc:41": all tensors that this line makes; empty: none
  bool dump_step = false;                 // all tensors of the step
  std::string out = "";                   // an .npz file for the tensors; empty: none
};

// What this process is asked for: by SetReplayOfProcess, or else by its flags. Nothing: no replay.
// InvalidArgument for a value that cannot be, and for the other flags without --replay_step.
absl::StatusOr<std::optional<ReplayRequest>> ReplayOfProcess();
void SetReplayOfProcess(std::optional<ReplayRequest> request);

// The result of a training whose replay is done: an error with exit code 0, so that the program comes to its end.
absl::Status ReplayDone(int64_t step);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_REPLAY_REPLAY_REQUEST_H_
