// ReplayedRun: the run of which a step is replayed, read from its model_dir. Nothing is written there.
#ifndef TANDEM_ESTIMATOR_REPLAY_REPLAYED_RUN_H_
#define TANDEM_ESTIMATOR_REPLAY_REPLAYED_RUN_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/env.h"
#include "estimator/config/run_config.h"
#include "estimator/record/run_description.h"
#include "estimator/record/steps_file.h"
#include "estimator/replay/replay_request.h"

namespace tandem {

struct ReplayedRun {
  // Reads what is recorded of the run in config->model_dir, and changes `config` so that it leaves the model_dir as it
  // is and has the devices of all workers of the run. Errors: NotFound if the model_dir does not exist; DataLoss for a
  // damaged or truncated record; FailedPrecondition for a run with parameter servers, or whose workers had inputs of
  // their own; those of --replay_out.
  static absl::StatusOr<std::shared_ptr<ReplayedRun>> Open(const ReplayRequest& request, RunConfig* config);
  ReplayedRun() = default;
  ~ReplayedRun();
  ReplayedRun(const ReplayedRun&) = delete;
  ReplayedRun& operator=(const ReplayedRun&) = delete;

  ReplayRequest request;
  std::optional<RunDescription> description;  // not set if the run has no description
  std::optional<RecordedSteps> steps;
  // A temporary cache of compiled programs, with links to those in the model_dir; empty if it is not needed.
  std::string cache_dir;
  // The global step that the run had reached after the calls of Train which this process has skipped.
  int64_t position = 0;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_REPLAY_REPLAYED_RUN_H_
