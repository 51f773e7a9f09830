// Encodes events for TensorBoard: messages of tensorflow/core/util/event.proto and framework/summary.proto.
#ifndef TANDEM_ESTIMATOR_SUMMARY_EVENT_H_
#define TANDEM_ESTIMATOR_SUMMARY_EVENT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace tandem {

struct ScalarSummary {
  std::string tag;
  double value;  // stored in the file as a float
};

// Returns the first event of every file. All times are seconds since 1970.
std::string VersionEvent(double time);
// Returns an event which says that a run starts at this step again: points of earlier files with this step or later
// ones no longer count.
std::string StartEvent(double time, int64_t step);
// `values` are messages of summary_value.h.
std::string SummaryEvent(double time, int64_t step, const std::vector<std::string>& values);
// `graph` is a GraphDef of graph_def.h. TensorBoard shows the first one of a run.
std::string GraphEvent(double time, int64_t step, const std::string& graph);
std::string ScalarsEvent(double time, int64_t step, const std::vector<ScalarSummary>& scalars);

// Appends the event as a record of a TFRecord file to `file`.
void AppendRecord(const std::string& event, std::string* file);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SUMMARY_EVENT_H_
