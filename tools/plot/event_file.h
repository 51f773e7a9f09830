// Reads the scalars of TensorBoard's event files (estimator/summary/event.h, TensorFlow and PyTorch write such files).
#ifndef TANDEM_TOOLS_PLOT_EVENT_FILE_H_
#define TANDEM_TOOLS_PLOT_EVENT_FILE_H_

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
  bool start = false;  // a run begins here, perhaps again: earlier points of this step and later ones no longer count
  std::vector<std::pair<absl::string_view, float>> scalars;  // by tag; the tags point into the record
};

// Returns false for bytes that are no event.
bool ParsePlotEvent(absl::string_view record, PlotEvent* event);

// Calls `visit` for each event of the file, in order. Also OK if the file ends within a record, as it does while a
// training writes it and after one was killed. DataLoss for damage, with the place of the first and the number of
// records that were left out; `visit` has been called for the others. Records after a damaged length cannot be found.
absl::Status ReadEventFile(Env* env, const std::string& path, absl::FunctionRef<void(const PlotEvent&)> visit);

}  // namespace tandem

#endif  // TANDEM_TOOLS_PLOT_EVENT_FILE_H_
