// Reads the records of trainings and evaluations in model directories.
#ifndef TANDEM_ESTIMATOR_CURVES_RUNS_H_
#define TANDEM_ESTIMATOR_CURVES_RUNS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/env.h"

namespace tandem {

struct CurvePoint {
  int64_t step;
  double value;  // may be NaN or infinite
  bool operator==(const CurvePoint&) const = default;
};

// One curve per tag, its points in the order of their steps, one per step.
using Curves = std::map<std::string, std::vector<CurvePoint>>;

struct PlotRun {
  std::string name;                     // the run's folder, without the leading part that all runs have in common
  std::map<std::string, Curves> parts;  // curves by part: "" is the training, "eval" and "eval_<name>" are evaluations
};

struct PlotRuns {
  std::vector<PlotRun> runs;
  // One error for each file that could not be read, with file, place and reason. Everything else is in `runs`.
  std::vector<absl::Status> damaged;
};

// Reads the runs in `folders`: model directories, or folders of model directories. Reads the event files in each model
// directory and in its subfolders, and eval*/metrics.jsonl. As in TensorBoard, if a resumed run wrote points again, the
// later ones count, and points of an abandoned run after the start of the next one are dropped.
//
// NotFound for a folder that does not exist or has no records; DataLoss when the records of a folder are damaged and
// none could be read.
absl::StatusOr<PlotRuns> ReadRuns(Env* env, const std::vector<std::string>& folders);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CURVES_RUNS_H_
