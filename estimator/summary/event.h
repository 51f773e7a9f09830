// Events as TensorBoard reads them: messages of tensorflow/core/util/event.proto and framework/summary.proto, encoded.
#ifndef TANDEM_ESTIMATOR_SUMMARY_EVENT_H_
#define TANDEM_ESTIMATOR_SUMMARY_EVENT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace tandem {

struct ScalarSummary {
  std::string tag;
  double value;  // stored as a float
};

// Times are seconds since 1970. The first event of every file.
std::string VersionEvent(double time);
// Points of earlier files with this step or later ones no longer count: a run starts again there.
std::string StartEvent(double time, int64_t step);
// `values`: messages of summary_value.h.
std::string SummaryEvent(double time, int64_t step, const std::vector<std::string>& values);
// `graph`: GraphDef of graph_def.h. TensorBoard shows the first of a run.
std::string GraphEvent(double time, int64_t step, const std::string& graph);
std::string ScalarsEvent(double time, int64_t step, const std::vector<ScalarSummary>& scalars);

// Appends a record of a TFRecord file to `file`.
void AppendRecord(const std::string& event, std::string* file);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SUMMARY_EVENT_H_
