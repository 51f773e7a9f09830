#include "estimator/curves/event_file.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "data/files/record_format.h"
#include "data/files/record_reader.h"
#include "data/files/wire.h"

namespace tandem {
namespace {

// Field numbers of the protocol buffers in an event file, as in estimator/summary/event.cc.
constexpr uint32_t kStep = 2, kSummary = 5, kSessionLog = 7;  // fields of the message Event
constexpr uint32_t kValue = 1;                                // fields of the message Summary
constexpr uint32_t kTag = 1, kSimpleValue = 2;                // fields of the message Summary.Value
constexpr uint32_t kStatus = 1;                               // fields of the message SessionLog
constexpr uint64_t kStatusStart = 1;

bool ParseValue(absl::string_view bytes, PlotEvent* event) {
  absl::string_view tag, number;
  bool scalar = false;
  for (wire::Reader reader(bytes); !reader.done();) {
    uint32_t field = 0;
    wire::Type type;
    if (!reader.ReadTag(&field, &type)) return false;
    bool read = false;
    if (field == kTag && type == wire::Type::kBytes) {
      read = reader.ReadBytes(&tag);
    } else if (field == kSimpleValue && type == wire::Type::kFixed32) {
      scalar = read = reader.ReadFixed32(&number);
    } else {
      read = reader.Skip(type);
    }
    if (!read) return false;
  }
  if (scalar) event->scalars.emplace_back(tag, record_format::LoadLittleEndian<float>(number.data()));
  return true;
}

bool ParseSummary(absl::string_view bytes, PlotEvent* event) {
  for (wire::Reader reader(bytes); !reader.done();) {
    uint32_t field = 0;
    wire::Type type;
    absl::string_view value;
    if (!reader.ReadTag(&field, &type)) return false;
    if (field == kValue && type == wire::Type::kBytes) {
      if (!reader.ReadBytes(&value) || !ParseValue(value, event)) return false;
    } else if (!reader.Skip(type)) {
      return false;
    }
  }
  return true;
}

bool ParseSessionLog(absl::string_view bytes, PlotEvent* event) {
  for (wire::Reader reader(bytes); !reader.done();) {
    uint32_t field = 0;
    wire::Type type;
    if (!reader.ReadTag(&field, &type)) return false;
    uint64_t status = 0;
    if (field == kStatus && type == wire::Type::kVarint) {
      if (!reader.ReadVarint(&status)) return false;
      event->start = status == kStatusStart;
    } else if (!reader.Skip(type)) {
      return false;
    }
  }
  return true;
}

// True if the record at `offset` could not be read because another process was writing it at that time: the record's
// length is incomplete or valid, and the file ends before the record does, or has the complete record by now.
bool IsBeingWritten(Env* env, const std::string& path, int64_t offset) {
  const auto file = env->OpenForRead(path);
  if (!file.ok()) return false;
  const int64_t rest = (*file)->size() - offset;
  if (rest < record_format::kHeaderBytes) return true;
  char header[record_format::kHeaderBytes];
  if (!(*file)->ReadAt(offset, sizeof header, header).ok()) return false;
  const auto length = record_format::LoadLittleEndian<uint64_t>(header);
  if (record_format::MaskedCrc({header, 8}) != record_format::LoadLittleEndian<uint32_t>(header + 8)) return false;
  if (length >
      static_cast<uint64_t>(std::max<int64_t>(0, rest - record_format::kHeaderBytes - record_format::kFooterBytes))) {
    return true;
  }
  std::string body(length + record_format::kFooterBytes, '\0');
  if (!(*file)->ReadAt(offset + record_format::kHeaderBytes, body.size(), body.data()).ok()) return false;
  return record_format::MaskedCrc({body.data(), length}) ==
         record_format::LoadLittleEndian<uint32_t>(body.data() + length);
}

}  // namespace

bool ParsePlotEvent(absl::string_view record, PlotEvent* event) {
  *event = PlotEvent();
  for (wire::Reader reader(record); !reader.done();) {
    uint32_t field = 0;
    wire::Type type;
    if (!reader.ReadTag(&field, &type)) return false;
    uint64_t step = 0;
    absl::string_view bytes;
    if (field == kStep && type == wire::Type::kVarint) {
      if (!reader.ReadVarint(&step)) return false;
      event->step = static_cast<int64_t>(step);
    } else if (field == kSummary && type == wire::Type::kBytes) {
      if (!reader.ReadBytes(&bytes) || !ParseSummary(bytes, event)) return false;
    } else if (field == kSessionLog && type == wire::Type::kBytes) {
      if (!reader.ReadBytes(&bytes) || !ParseSessionLog(bytes, event)) return false;
    } else if (!reader.Skip(type)) {
      return false;
    }
  }
  return true;
}

absl::Status ReadEventFile(Env* env, const std::string& path, absl::FunctionRef<void(const PlotEvent&)> visit) {
  TD_ASSIGN_OR_RETURN(const std::unique_ptr<RecordReader> reader, RecordReader::Open(path));
  absl::Status first;
  int64_t left_out = 0;
  PlotEvent event;
  Record record;
  for (bool end = false; !end;) {
    const int64_t offset = reader->offset();
    if (const absl::Status status = reader->Next(&record, &end); !status.ok()) {
      if (absl::IsDataLoss(status) && IsBeingWritten(env, path, offset)) break;
      return Annotate(status, "", "; what follows in the file is left out");
    }
    if (end) break;
    absl::Status status = reader->CheckBytes(record);
    if (status.ok() && !ParsePlotEvent(record.bytes, &event)) {
      status = absl::DataLossError(absl::StrCat(path, ": at byte ", offset, ": the record is no event of TensorBoard"));
    }
    if (status.ok()) {
      visit(event);
    } else if (left_out++ == 0) {
      first = status;
    }
  }
  if (left_out <= 1) return first;
  return absl::DataLossError(absl::StrCat(first.message(), "; damaged records in the file: ", left_out));
}

}  // namespace tandem
