// Exporters: what TrainAndEvaluate exports after evaluations and at its end, like those of tf.estimator.
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
#include "tandem/base/api.h"
#include "tandem/estimator/config/metric_direction.h"
#include "tandem/estimator/evaluation/eval_result.h"
#include "tandem/estimator/serving_input.h"

namespace TANDEM_API tandem {

class Estimator;

// The argument of Exporter::Export.
struct ExportRequest {
  std::string export_dir_base;  // model_dir/export/<name of the exporter>
  // For ExportOptions: the path of the checkpoint that was evaluated; empty if the weights in memory were evaluated.
  std::string checkpoint_path;
  EvalResult evaluation;  // result of the last evaluation
  // For ExportOptions: whether `evaluation` used moving averages of the weights that have one.
  bool use_moving_average = true;
  bool is_final = false;  // true for the export at the end of training
  // True if the job was done already when this run began, so that `evaluation` is the recorded result of an earlier
  // run.
  bool is_on_record = false;
};

// Base class for exporters, also for your own. TrainAndEvaluate calls Export after every evaluation, and once more with
// `is_final` at the end of training, in the process that evaluates: the chief, or the task of type evaluator. An
// exporter may be asked twice for the same evaluation, since a killed run is started again.
//
// Return InvalidArgument for a mistake in the program, such as a wrong name of a metric: it ends training after its
// checkpoint. Any other error of an export is a warning, except that the final export's error of a required exporter is
// the error of TrainAndEvaluate, after everything else is done.
class Exporter {
 public:
  virtual ~Exporter() = default;
  // The name of the exporter's folder in model_dir/export.
  virtual std::string name() const = 0;
  // Called before anything is trained, to find mistakes early.
  virtual absl::Status Prepare(Estimator& estimator) { return absl::OkStatus(); }
  // Also called before anything is trained, with the names of the metrics that evaluations will give.
  virtual absl::Status CheckMetrics(const std::vector<std::string>& names) { return absl::OkStatus(); }
  // Returns the path of the export; empty if there was nothing to export.
  virtual absl::StatusOr<std::string> Export(Estimator& estimator, const ExportRequest& request) = 0;
  // True if an error of the export at the end is an error of TrainAndEvaluate.
  virtual bool required() const { return false; }
};

// EvalSpec.exporters.
using ExporterList = std::vector<std::shared_ptr<Exporter>>;

// Exports once, at the end of training. Required: its error is an error of TrainAndEvaluate.
std::shared_ptr<Exporter> FinalExporter(std::string name, ServingInput serving_input);

struct LatestExporterOptions {
  int exports_to_keep = 5;  // number of newest exports that are kept; 0 keeps all
};
// Exports after every evaluation.
std::shared_ptr<Exporter> LatestExporter(std::string name, ServingInput serving_input,
                                         LatestExporterOptions options = {});

struct BestExporterOptions {
  std::string metric = "loss";
  // Whether smaller or larger values are better. If not set, kMin for "loss"; must be set for any other metric.
  std::optional<MetricDirection> direction = std::nullopt;
  // The number of newest exports that are kept; since each export is better than those before, they are the best. 0
  // keeps all.
  int exports_to_keep = 5;
};
// Exports after every evaluation whose metric is better than that of all exports in its directory, those of earlier
// runs included; every export stores the metrics of its evaluation. NaN is never better than anything.
std::shared_ptr<Exporter> BestExporter(std::string name, ServingInput serving_input, BestExporterOptions options = {});

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_EXPORTER_H_
