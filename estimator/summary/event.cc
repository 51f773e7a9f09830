#include "estimator/summary/event.h"

#include "data/files/record_format.h"
#include "data/files/wire.h"

namespace tandem {
namespace {

// Numbers of fields.
constexpr uint32_t kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7;  // of Event
constexpr uint32_t kValue = 1;                                                                 // of Summary
constexpr uint32_t kTag = 1, kSimpleValue = 2;                                                 // of Summary.Value
constexpr uint32_t kStatus = 1;                                                                // of SessionLog
constexpr uint64_t kStatusStart = 1;

template <typename T>
void AppendFixed(uint32_t field, wire::Type type, T value, std::string* out) {
  wire::AppendVarint(field << 3 | static_cast<uint32_t>(type), out);
  char bytes[sizeof(T)];
  record_format::StoreLittleEndian(value, bytes);
  out->append(bytes, sizeof(T));
}

void AppendNumber(uint32_t field, uint64_t value, std::string* out) {
  wire::AppendVarint(field << 3 | static_cast<uint32_t>(wire::Type::kVarint), out);
  wire::AppendVarint(value, out);
}

std::string NewEvent(double time, int64_t step) {
  std::string event;
  AppendFixed(kWallTime, wire::Type::kFixed64, time, &event);
  if (step != 0) AppendNumber(kStep, static_cast<uint64_t>(step), &event);
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
  AppendNumber(kStatus, kStatusStart, &log);
  std::string event = NewEvent(time, step);
  wire::AppendBytes(kSessionLog, log, &event);
  return event;
}

std::string ScalarsEvent(double time, int64_t step, const std::vector<ScalarSummary>& scalars) {
  std::string summary;
  for (const ScalarSummary& scalar : scalars) {
    std::string value;
    wire::AppendBytes(kTag, scalar.tag, &value);
    AppendFixed(kSimpleValue, wire::Type::kFixed32, static_cast<float>(scalar.value), &value);
    wire::AppendBytes(kValue, value, &summary);
  }
  std::string event = NewEvent(time, step);
  wire::AppendBytes(kSummary, summary, &event);
  return event;
}

void AppendRecord(const std::string& event, std::string* file) {
  const record_format::Frame frame(event);
  file->append(frame.header, sizeof frame.header);
  file->append(event);
  file->append(frame.footer, sizeof frame.footer);
}

}  // namespace tandem
