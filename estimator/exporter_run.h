// ExporterRun: the exporters of one TrainAndEvaluate.
#ifndef TANDEM_ESTIMATOR_EXPORTER_RUN_H_
#define TANDEM_ESTIMATOR_EXPORTER_RUN_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "estimator/estimator.h"
#include "estimator/exporter.h"

namespace tandem {

// Names of folders, each once. InvalidArgument says what is wrong.
absl::Status ValidateExporters(const ExporterList& exporters);

class ExporterRun {
 public:
  // `exporters` must outlive it. What is evaluated and exported are moving averages, where there are any, with
  // `use_moving_average`. Does nothing in a process that does not evaluate for all.
  ExporterRun(Estimator& estimator, const ExporterList& exporters, bool use_moving_average);

  // Whether the job was done before it began.
  void set_was_done(bool was_done) { was_done_ = was_done; }
  // Before training. Errors are of the program.
  absl::Status Prepare();
  absl::Status CheckMetrics(const std::vector<std::string>& names);
  // After an evaluation, of the checkpoint at that path or of what is in memory.
  absl::Status AfterEvaluation(const EvalResult& evaluation, const std::string& checkpoint_path = "");
  // At the end of training; `evaluation` is that of its last step.
  absl::Status AtEnd(const EvalResult& evaluation, const std::string& checkpoint_path = "");

 private:
  absl::Status Export(const EvalResult& evaluation, const std::string& checkpoint_path, bool is_final);

  Estimator& estimator_;
  const ExporterList& exporters_;
  const bool use_moving_average_;
  bool exports_;
  bool was_done_ = false;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_EXPORTER_RUN_H_
