// Exporters: what TrainAndEvaluate exports after evaluations and at its end, as those of tf.estimator.
//
//   const BestExporterOptions by_accuracy{.metric = "accuracy", .direction = MetricDirection::kMax};
//   EvalSpec{.input_fn = EvalInput,
//            .exporters = {BestExporter("best", serving_input, by_accuracy), FinalExporter("final", serving_input)}}
#ifndef TANDEM_ESTIMATOR_EXPORTER_H_
#define TANDEM_ESTIMATOR_EXPORTER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/eval_result.h"
#include "estimator/metric_direction.h"
#include "estimator/serving_input.h"

namespace tandem {

class Estimator;

// What an exporter is asked for.
struct ExportRequest {
  std::string export_dir_base;  // model_dir/export/<name of the exporter>
  std::string checkpoint_path;  // for ExportOptions: of what was evaluated; empty for the weights in memory
  EvalResult evaluation;        // the last
  // For ExportOptions: whether `evaluation` is of moving averages, where there are any.
  bool use_moving_average = true;
  bool is_final = false;      // training is at its end
  bool is_on_record = false;  // of a job that was done before: `evaluation` was made by an earlier run
};

// Derive from it for exports of your own. TrainAndEvaluate calls Export after every evaluation, and once more with
// `is_final` at the end of training, in the process that evaluates: the chief, or the task of type evaluator. Whatever
// else it has done, an exporter may be asked twice for the same evaluation, since a killed run is started again.
//
// InvalidArgument says that something is wrong with the program, such as the name of a metric, and ends training after
// its checkpoint. Any other error of an export is a warning; where the exporter is required, that of the final one is
// the error of TrainAndEvaluate when everything else is done.
class Exporter {
 public:
  virtual ~Exporter() = default;
  // A folder of model_dir/export.
  virtual std::string name() const = 0;
  // Before anything is trained: to find mistakes early.
  virtual absl::Status Prepare(Estimator& estimator) { return absl::OkStatus(); }
  // Before anything is trained, too: the names of the metrics that evaluations will give.
  virtual absl::Status CheckMetrics(const std::vector<std::string>& names) { return absl::OkStatus(); }
  // The path of the export; empty when there was nothing to export.
  virtual absl::StatusOr<std::string> Export(Estimator& estimator, const ExportRequest& request) = 0;
  virtual bool required() const { return false; }
};

using ExporterList = std::vector<std::shared_ptr<Exporter>>;

// Once, at the end of training. Required.
std::shared_ptr<Exporter> FinalExporter(std::string name, ServingInput serving_input);

struct LatestExporterOptions {
  int exports_to_keep = 5;  // older ones are deleted; 0 keeps all
};
// After every evaluation.
std::shared_ptr<Exporter> LatestExporter(std::string name, ServingInput serving_input,
                                         LatestExporterOptions options = {});

struct BestExporterOptions {
  std::string metric = "loss";
  // Which values are the better ones. For "loss" kMin unless it is set; for another metric it must be.
  std::optional<MetricDirection> direction = std::nullopt;
  int exports_to_keep = 5;  // the newest, which are the best; 0 keeps all
};
// After every evaluation whose metric is better than that of all exports in its directory, also those of earlier runs:
// an export keeps the metrics that it was made after. A NaN is never better than anything.
std::shared_ptr<Exporter> BestExporter(std::string name, ServingInput serving_input, BestExporterOptions options = {});

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_EXPORTER_H_
