// EventWriter: writes event files for TensorBoard on a thread of its own, so that adding an event never waits for a
// disk.
#ifndef TANDEM_ESTIMATOR_SUMMARY_EVENT_WRITER_H_
#define TANDEM_ESTIMATOR_SUMMARY_EVENT_WRITER_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/env.h"
#include "estimator/summary/event.h"

namespace tandem {

// Remembers which failures several writers have already warned of, so that a full disk gives one warning and not one
// for each directory. Thread-safe.
class SummaryWarnings {
 public:
  // Returns true if no failure of this kind was reported before.
  bool First(absl::StatusCode code) {
    std::lock_guard<std::mutex> lock(mutex_);
    return seen_.insert(code).second;
  }

 private:
  std::mutex mutex_;
  std::set<absl::StatusCode> seen_;
};

// Writes a file events.out.tfevents.SECONDS.HOST.PROCESS.NUMBER in a directory, which TensorBoard shows as a run. If
// somebody deletes the file, begins a new one.
//
// Nothing here fails: the first write error of all writers with the same `warnings` is a warning, and later events are
// dropped. Thread-safe.
class EventWriter {
 public:
  // The directory, the file and the thread are made when the first event is added.
  EventWriter(Env* env, std::string directory,
              std::shared_ptr<SummaryWarnings> warnings = std::make_shared<SummaryWarnings>())
      : env_(env), directory_(std::move(directory)), warnings_(std::move(warnings)) {}
  // Writes the events that are not written yet.
  ~EventWriter();
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  // Declares that a run starts at `step`, perhaps again: points of that step and later ones in earlier files no longer
  // count.
  void StartAt(int64_t step);
  void AddScalars(int64_t step, const std::vector<ScalarSummary>& scalars);
  // Adds what `make` returns: a GraphDef, or values (summary_value.h). `make` is called once, on the writer's thread,
  // where it may take long. `bytes` is about the memory that it holds until then.
  using MakeGraph = std::function<std::string()>;
  using MakeValues = std::function<absl::StatusOr<std::vector<std::string>>()>;
  void AddGraph(int64_t step, size_t bytes, MakeGraph make);
  void AddValues(int64_t step, size_t bytes, MakeValues make);
  // Waits until the file has all events added so far, or until writing has failed.
  void Flush();

 private:
  // An event, or a function that will make it.
  struct Pending {
    size_t bytes;
    std::function<absl::StatusOr<std::string>()> make;
  };
  void Add(Pending event);
  void AddEvent(std::string event);
  void Run();
  // Writes events taken from pending_, on the writer's thread or, if there is none, on the caller's.
  absl::Status Write(const std::vector<Pending>& events);
  absl::Status AppendToFile(const std::string& records);
  void GiveUp(const absl::Status& status);

  Env* const env_;
  const std::string directory_;
  const std::shared_ptr<SummaryWarnings> warnings_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Pending> pending_;
  size_t pending_bytes_ = 0;
  bool writing_ = false;  // events were taken from pending_ and are not yet in the file
  bool stop_ = false, failed_ = false, tried_thread_ = false;
  std::thread thread_;

  // Used only by the thread that writes.
  std::string path_;
  std::unique_ptr<WritableFile> file_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SUMMARY_EVENT_WRITER_H_
