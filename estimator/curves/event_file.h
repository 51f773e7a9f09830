// Reads the scalars of TensorBoard's event files (estimator/summary/event.h, TensorFlow and PyTorch write such files).
#ifndef TANDEM_ESTIMATOR_CURVES_EVENT_FILE_H_
#define TANDEM_ESTIMATOR_CURVES_EVENT_FILE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/env.h"

namespace tandem {

// The parts of one event that a plot needs. Histograms, pictures, texts, graphs and tensors are skipped.
struct PlotEvent {
  int64_t step = 0;
  // True if a run begins or resumes at this step. Points of this and later steps that were read before are then
  // dropped.
  bool start = false;
  std::vector<std::pair<absl::string_view, float>> scalars;  // tags and values; the tags point into the record
};

// Returns false if the bytes are not a valid event.
bool ParsePlotEvent(absl::string_view record, PlotEvent* event);

// Calls `visit` for each event of the file, in order. A file that ends within a record is OK, because a training may
// still write it, or may have been killed. DataLoss for damage, with the place of the first damage and the number of
// records that were left out; `visit` has been called for the other records. Records after a damaged length cannot be
// found.
absl::Status ReadEventFile(Env* env, const std::string& path, absl::FunctionRef<void(const PlotEvent&)> visit);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CURVES_EVENT_FILE_H_
