// Event files for TensorBoard, written by a thread of their own: whoever adds an event waits for no disk.
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

// What several writers have warned of: a full disk is one warning, not one of each directory. Thread-safe.
class SummaryWarnings {
 public:
  // Whether this kind of failure is the first of its kind.
  bool First(absl::StatusCode code) {
    std::lock_guard<std::mutex> lock(mutex_);
    return seen_.insert(code).second;
  }

 private:
  std::mutex mutex_;
  std::set<absl::StatusCode> seen_;
};

// One file events.out.tfevents.SECONDS.HOST.PROCESS.NUMBER of a directory, which TensorBoard shows as a run. A file
// that somebody deletes is followed by a new one.
//
// Nothing here fails: what cannot be written is a warning, once of all writers with the same `warnings`, and what comes
// later is dropped. Thread-safe.
class EventWriter {
 public:
  // The directory, the file and the thread are made with the first event.
  EventWriter(Env* env, std::string directory,
              std::shared_ptr<SummaryWarnings> warnings = std::make_shared<SummaryWarnings>())
      : env_(env), directory_(std::move(directory)), warnings_(std::move(warnings)) {}
  // Writes what is left.
  ~EventWriter();
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  // A run that starts at `step`, perhaps again: points of that step and later ones, of files before, no longer count.
  void StartAt(int64_t step);
  void AddScalars(int64_t step, const std::vector<ScalarSummary>& scalars);
  // A GraphDef, or values (summary_value.h), that `make` gives: it is called once, by the writer's thread, and may take
  // its time there. `bytes`: about what it holds until then.
  using MakeGraph = std::function<std::string()>;
  using MakeValues = std::function<absl::StatusOr<std::vector<std::string>>()>;
  void AddGraph(int64_t step, size_t bytes, MakeGraph make);
  void AddValues(int64_t step, size_t bytes, MakeValues make);
  // Returns when the file has all events so far, or never will.
  void Flush();

 private:
  // An event, perhaps still to be made.
  struct Pending {
    size_t bytes;
    std::function<absl::StatusOr<std::string>()> make;
  };
  void Add(Pending event);
  void AddEvent(std::string event);
  void Run();
  // What pending_ had. On the thread, or on the caller's where there is none.
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
  bool writing_ = false;  // some were taken from pending_ and are not yet in the file
  bool stop_ = false, failed_ = false, tried_thread_ = false;
  std::thread thread_;

  // Of whoever writes.
  std::string path_;
  std::unique_ptr<WritableFile> file_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SUMMARY_EVENT_WRITER_H_
