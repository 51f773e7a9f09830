// Event files for TensorBoard, written by a thread of their own: whoever adds an event waits for no disk.
#ifndef TANDEM_ESTIMATOR_SUMMARY_EVENT_WRITER_H_
#define TANDEM_ESTIMATOR_SUMMARY_EVENT_WRITER_H_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "base/env.h"
#include "estimator/summary/event.h"

namespace tandem {

// One file events.out.tfevents.SECONDS.HOST.PROCESS.NUMBER of a directory, which TensorBoard shows as a run. A file
// that somebody deletes is followed by a new one.
//
// Nothing here fails: what cannot be written is a warning, once, and what comes later is dropped. Thread-safe.
class EventWriter {
 public:
  // The directory, the file and the thread are made with the first event.
  EventWriter(Env* env, std::string directory) : env_(env), directory_(std::move(directory)) {}
  // Writes what is left.
  ~EventWriter();
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  // A run that starts at `step`, perhaps again: points of that step and later ones, of files before, no longer count.
  void StartAt(int64_t step);
  void AddScalars(int64_t step, const std::vector<ScalarSummary>& scalars);
  // Returns when the file has all events so far, or never will.
  void Flush();

 private:
  void Add(const std::string& event);
  void Run();
  // Of what pending_ had. On the thread, or on the caller's where there is none.
  void Write(const std::string& records);
  absl::Status AppendToFile(const std::string& records);
  void GiveUp(const absl::Status& status);

  Env* const env_;
  const std::string directory_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string pending_;   // records
  bool writing_ = false;  // some were taken from pending_ and are not yet in the file
  bool stop_ = false, failed_ = false, tried_thread_ = false;
  std::thread thread_;

  // Of whoever writes.
  std::string path_;
  std::unique_ptr<WritableFile> file_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SUMMARY_EVENT_WRITER_H_
