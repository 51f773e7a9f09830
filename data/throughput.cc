#include "data/throughput.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "data/stage_times.h"

namespace tandem {
namespace {

// If the consumer waits for less than this part of the time, it is the consumer that limits the speed, not the
// pipeline.
constexpr double kHardlyWaits = 0.05;
// If drawing, which one thread at a time does, takes more than this part of the time, it limits the speed for any
// number of threads.
constexpr double kDrawingLimits = 0.7;

double Seconds(const std::atomic<int64_t>& nanoseconds) { return 1e-9 * static_cast<double>(nanoseconds.load()); }

double BusySeconds(const std::vector<StageThroughput>& stages) {
  double sum = 0;
  for (const StageThroughput& stage : stages) sum += stage.busy_secs;
  return sum;
}

int Bottleneck(const Throughput& t) {
  if (t.elements == 0 || t.consumer_wait_secs < kHardlyWaits * t.seconds) return -1;
  double drawing = 0;
  for (const StageThroughput& stage : t.stages) drawing += stage.drawing_secs;
  const bool by_drawing = t.threads > 1 && drawing > kDrawingLimits * t.seconds;
  const auto time = [by_drawing](const StageThroughput& s) { return by_drawing ? s.drawing_secs : s.busy_secs; };
  const auto slowest =
      std::max_element(t.stages.begin(), t.stages.end(),
                       [&](const StageThroughput& a, const StageThroughput& b) { return time(a) < time(b); });
  return slowest == t.stages.end() ? -1 : static_cast<int>(slowest - t.stages.begin());
}

// Returns the index of a stage that reads files and is followed by Window without a Cache between them, so that records
// are read again for every window that contains them; -1 if there is none.
int ReadAgain(const std::vector<StageThroughput>& stages) {
  int file = -1;
  for (size_t i = 0; i < stages.size(); ++i) {
    const std::string& stage = stages[i].stage;
    const auto is = [&](absl::string_view name) { return absl::StartsWith(stage, absl::StrCat(name, " (")); };
    if (is("TFRecord") || is("TextLine") || is("Csv") || is("FixedLengthRecord") || is("Idx"))
      file = static_cast<int>(i);
    if (is("Cache")) file = -1;
    if (file >= 0 && is("Window")) return file;
  }
  return -1;
}

}  // namespace

std::string Throughput::BottleneckText() const {
  if (bottleneck < 0) {
    return absl::StrFormat("the consumer waited %.1f %% of the time, so no stage is a bottleneck",
                           100 * consumer_wait_secs / std::max(seconds, 1e-9));
  }
  const StageThroughput& stage = stages[bottleneck];
  std::string text = absl::StrFormat("the slowest stage is %s, with %.0f %% of the work", stage.stage,
                                     100 * stage.busy_secs / std::max(BusySeconds(stages), 1e-9));
  if (const int file = ReadAgain(stages); file >= 0) {
    absl::StrAppend(&text, "; records of ", stages[file].stage,
                    " are read again for each window: put Cache() behind it where they fit into memory");
  }
  return text;
}

std::string Throughput::ToString() const {
  std::string text;
  size_t width = 0;
  for (const StageThroughput& stage : stages) width = std::max(width, stage.stage.size());
  for (const StageThroughput& stage : stages) {
    absl::StrAppend(&text, stage.stage);
    if (elements > 0) {
      absl::StrAppendFormat(&text, "%*s  busy %.3f s, waited %.3f s for its source and %.3f s for its consumer",
                            width - stage.stage.size(), "", stage.busy_secs, stage.source_secs, stage.consumer_secs);
    }
    text += "\n";
  }
  if (elements == 0) return absl::StrCat(text, "nothing has been read yet\n");
  absl::StrAppendFormat(&text, "%d elements in %.3f s, of which the consumer waited %.3f s\n", elements, seconds,
                        consumer_wait_secs);
  if (threads > 0) {
    absl::StrAppendFormat(&text,
                          "%d threads; they waited %.3f s for room and %.3f s for their turn to read; %.1f of at most "
                          "%d elements were ready\n",
                          threads, room_wait_secs, turn_wait_secs, ready_elements, window);
  }
  return absl::StrCat(text, BottleneckText(), "\n");
}

namespace data_internal {

Throughput ThroughputOf(const StageList& stages) {
  Throughput t;
  if (stages.empty()) return t;
  const PipelineTimes& p = stages.back()->pipeline;
  t.elements = p.elements;
  t.seconds = Seconds(p.elapsed);
  t.threads = static_cast<int>(p.threads);
  t.consumer_wait_secs = Seconds(p.consumer_wait);
  t.room_wait_secs = Seconds(p.room_wait);
  t.turn_wait_secs = Seconds(p.turn_wait);
  t.ready_elements = static_cast<double>(p.ready) / static_cast<double>(std::max<int64_t>(t.elements, 1));
  t.window = p.window;
  const double thread_seconds = Seconds(p.thread_time);
  for (const std::shared_ptr<StageTimes>& s : stages) {
    const double total = Seconds(s->total), busy = Seconds(s->busy);
    t.stages.push_back(
        {StageText(*s), busy, std::max(total - busy, 0.0), std::max(thread_seconds - total, 0.0), Seconds(s->drawing)});
  }
  t.bottleneck = Bottleneck(t);
  return t;
}

}  // namespace data_internal
}  // namespace tandem
