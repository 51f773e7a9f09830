// The scalars of TensorBoard's event files (estimator/summary/event.h writes such files, and so do TensorFlow and
// PyTorch).
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

// What a plot needs of one event. Histograms, pictures, texts, graphs and tensors are passed over.
struct PlotEvent {
  int64_t step = 0;
  bool start = false;  // a run begins here, perhaps again: points of this step and later ones no longer count
  std::vector<std::pair<absl::string_view, float>> scalars;  // by tag; in the record's bytes
};

// False for bytes that are no event.
bool ParsePlotEvent(absl::string_view record, PlotEvent* event);

// Calls `visit` for each event of the file, in order. OK also when the file ends within a record, as it does while a
// training writes it and after one was killed. DataLoss for damage: says where the first is, and how many records were
// left out; `visit` has then been called for the others. Records behind a damaged length cannot be found.
absl::Status ReadEventFile(Env* env, const std::string& path, absl::FunctionRef<void(const PlotEvent&)> visit);

}  // namespace tandem

#endif  // TANDEM_TOOLS_PLOT_EVENT_FILE_H_
