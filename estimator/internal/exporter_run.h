// ExporterRun: runs the exporters of one TrainAndEvaluate.
#ifndef TANDEM_ESTIMATOR_INTERNAL_EXPORTER_RUN_H_
#define TANDEM_ESTIMATOR_INTERNAL_EXPORTER_RUN_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "estimator/estimator.h"
#include "estimator/exporter.h"

namespace tandem {

// InvalidArgument unless every exporter has a name that can be a folder's, each a different one.
absl::Status ValidateExporters(const ExporterList& exporters);

class ExporterRun {
 public:
  // `exporters` must outlive this object. With `use_moving_average`, evaluations and exports use moving averages, as
  // far as there are any. Does nothing in a process that does not evaluate for all workers.
  ExporterRun(Estimator& estimator, const ExporterList& exporters, bool use_moving_average);

  // Sets ExportRequest::is_on_record of the following exports.
  void set_is_on_record(bool is_on_record) { is_on_record_ = is_on_record; }
  // Call before training. Returns an error for a mistake in the user's program.
  absl::Status Prepare();
  absl::Status CheckMetrics(const std::vector<std::string>& names);
  // Call after an evaluation of the checkpoint at `checkpoint_path`; empty: of the weights in memory.
  absl::Status AfterEvaluation(const EvalResult& evaluation, const std::string& checkpoint_path = "");
  // Call at the end of training; `evaluation` is that of its last step.
  absl::Status AtEnd(const EvalResult& evaluation, const std::string& checkpoint_path = "");

 private:
  absl::Status Export(const EvalResult& evaluation, const std::string& checkpoint_path, bool is_final);

  Estimator& estimator_;
  const ExporterList& exporters_;
  const bool use_moving_average_;
  bool exports_;
  bool is_on_record_ = false;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_INTERNAL_EXPORTER_RUN_H_
