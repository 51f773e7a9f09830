// EventFiles: the event files that an Estimator writes for TensorBoard.
#ifndef TANDEM_ESTIMATOR_INTERNAL_EVENT_FILES_H_
#define TANDEM_ESTIMATOR_INTERNAL_EVENT_FILES_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "estimator/config/params.h"
#include "estimator/config/run_config.h"
#include "estimator/evaluation/eval_result.h"
#include "estimator/loop/session_run_hook.h"
#include "estimator/model/mode_program.h"
#include "estimator/summary/event_writer.h"
#include "runtime/variables/variable_store.h"

namespace tandem {

class EventFiles {
 public:
  // Both arguments must outlive this object.
  EventFiles(const RunConfig& config, const Params& params) : config_(config), params_(params) {}

  // Returns the event file of a directory; null if event files are off.
  std::shared_ptr<EventWriter> In(const std::string& directory);
  // Returns the hooks that write a training's event files; none if event files are off. `store` has the variables of
  // `program`, which must outlive the hooks.
  HookList TrainingHooks(const ModeProgram& program, std::shared_ptr<VariableStore> store);

 private:
  // Writes the graphs of the model and its hyperparameters, once in a process, however often it trains.
  void ShowModel(const ModeProgram& program, int64_t step);

  const RunConfig& config_;
  const Params& params_;
  std::map<std::string, std::shared_ptr<EventWriter>> writers_;  // event files by their directories
  bool model_shown_ = false;
  const std::shared_ptr<SummaryWarnings> warnings_ = std::make_shared<SummaryWarnings>();
};

// Returns the numbers of a result for an event file, except the loss and the step.
std::vector<ScalarSummary> MetricScalars(const EvalResult& result);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_INTERNAL_EVENT_FILES_H_
