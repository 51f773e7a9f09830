// What model directories have recorded of their trainings and evaluations.
#ifndef TANDEM_TOOLS_PLOT_RUNS_H_
#define TANDEM_TOOLS_PLOT_RUNS_H_

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
  std::string name;                     // the folder, without what all folders begin with
  std::map<std::string, Curves> parts;  // "" is the training, "eval" and "eval_<name>" are evaluations
};

struct PlotRuns {
  std::vector<PlotRun> runs;
  // What could not be read, each with file, place and reason. All the rest is in `runs`.
  std::vector<absl::Status> damaged;
};

// The runs of `folders`: model directories, or folders of model directories. Of each the event files of the folder and
// of the folders in it, and eval*/metrics.jsonl. As TensorBoard does, points that a resumed run wrote again are taken
// from the later one, and points of an abandoned run behind the place where the next one began are dropped.
//
// NotFound for a folder that is not there, or that has no records; DataLoss when the records of a folder are damaged
// and none could be read.
absl::StatusOr<PlotRuns> ReadRuns(Env* env, const std::vector<std::string>& folders);

}  // namespace tandem

#endif  // TANDEM_TOOLS_PLOT_RUNS_H_
