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

  // ExportRequest::is_on_record of what is exported from now on.
  void set_is_on_record(bool is_on_record) { is_on_record_ = is_on_record; }
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
  bool is_on_record_ = false;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_EXPORTER_RUN_H_
