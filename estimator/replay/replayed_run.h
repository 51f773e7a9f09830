// ReplayedRun: the run of which a step is made again, as its model_dir has it. All of it is read, and nothing written.
#ifndef TANDEM_ESTIMATOR_REPLAY_REPLAYED_RUN_H_
#define TANDEM_ESTIMATOR_REPLAY_REPLAYED_RUN_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/env.h"
#include "estimator/record/run_description.h"
#include "estimator/record/steps_file.h"
#include "estimator/replay/replay_request.h"
#include "estimator/run_config.h"

namespace tandem {

struct ReplayedRun {
  // Reads what is recorded of the run in config->model_dir, and changes `config` to one that leaves the model_dir as it
  // is and has the devices of all workers of the run. Errors: NotFound where there is no model_dir; DataLoss of a
  // record that is damaged or cut; FailedPrecondition for a run with parameter servers, whose steps cannot be made
  // again; those of --replay_out.
  static absl::StatusOr<std::shared_ptr<ReplayedRun>> Open(const ReplayRequest& request, RunConfig* config);
  ReplayedRun() = default;
  ~ReplayedRun();
  ReplayedRun(const ReplayedRun&) = delete;
  ReplayedRun& operator=(const ReplayedRun&) = delete;

  ReplayRequest request;
  std::optional<RunDescription> description;  // nothing where none is recorded
  std::optional<RecordedSteps> steps;
  // For compiled programs: a directory of its own, with links to those of the model_dir. Empty: none is kept.
  std::string cache_dir;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_REPLAY_REPLAYED_RUN_H_
