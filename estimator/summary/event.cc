#include "estimator/summary/event.h"

#include "data/files/record_format.h"
#include "data/files/wire_fields.h"
#include "estimator/summary/summary_value.h"

namespace tandem {
namespace {

// Field numbers of the messages.
constexpr uint32_t kWallTime = 1, kStep = 2, kFileVersion = 3, kGraphDef = 4, kSummary = 5,
                   kSessionLog = 7;    // field numbers of Event
constexpr uint32_t kSummaryValue = 1;  // field numbers of Summary
constexpr uint32_t kStatus = 1;        // field numbers of SessionLog
constexpr uint64_t kStatusStart = 1;

std::string NewEvent(double time, int64_t step) {
  std::string event;
  wire::AppendDouble(kWallTime, time, &event);
  if (step != 0) wire::AppendNumber(kStep, static_cast<uint64_t>(step), &event);
  return event;
}

}  // namespace

std::string VersionEvent(double time) {
  std::string event = NewEvent(time, 0);
  wire::AppendBytes(kFileVersion, "brain.Event:2", &event);
  return event;
}

std::string StartEvent(double time, int64_t step) {
  std::string log;
  wire::AppendNumber(kStatus, kStatusStart, &log);
  std::string event = NewEvent(time, step);
  wire::AppendBytes(kSessionLog, log, &event);
  return event;
}

std::string SummaryEvent(double time, int64_t step, const std::vector<std::string>& values) {
  std::string summary;
  for (const std::string& value : values) wire::AppendBytes(kSummaryValue, value, &summary);
  std::string event = NewEvent(time, step);
  wire::AppendBytes(kSummary, summary, &event);
  return event;
}

std::string GraphEvent(double time, int64_t step, const std::string& graph) {
  std::string event = NewEvent(time, step);
  wire::AppendBytes(kGraphDef, graph, &event);
  return event;
}

std::string ScalarsEvent(double time, int64_t step, const std::vector<ScalarSummary>& scalars) {
  std::vector<std::string> values;
  for (const ScalarSummary& scalar : scalars) values.push_back(ScalarValue(scalar.tag, scalar.value));
  return SummaryEvent(time, step, values);
}

void AppendRecord(const std::string& event, std::string* file) {
  const record_format::Frame frame(event);
  file->append(frame.header, sizeof frame.header);
  file->append(event);
  file->append(frame.footer, sizeof frame.footer);
}

}  // namespace tandem
