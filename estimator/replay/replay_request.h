// ReplayRequest: which step of an earlier run to make again, from --replay_step and the flags that go with it. Every
// program that trains with an Estimator and reads its flags with RunProgram has them (docs/guide/replay.md).
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
  int64_t step = 0;                       // the step to replay; 0 is the first step
  std::vector<std::string> fetches = {};  // names of tensors to show
  std::string fetch_line = "";            // "model.cc:41": show all tensors made by this line; empty: none
  bool dump_step = false;                 // show all tensors of the step
  std::string out = "";                   // an .npz file for the tensors; empty: none
};

// Returns the request set by SetReplayOfProcess or else by the flags; nothing if there is none. InvalidArgument for an
// impossible value, and for the other flags without --replay_step.
absl::StatusOr<std::optional<ReplayRequest>> ReplayOfProcess();
void SetReplayOfProcess(std::optional<ReplayRequest> request);

// Returns the result of a training whose replay is done: an error with exit code 0, so that the program ends.
absl::Status ReplayDone(int64_t step);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_REPLAY_REPLAY_REQUEST_H_
