#include "estimator/summary/event_writer.h"

#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/logging.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "base/threads.h"

namespace tandem {
namespace {

// The writer gives up if events of more bytes than this wait, and more than kMaxLargePending of them: then the disk
// does not respond.
constexpr size_t kMaxPendingBytes = size_t{64} << 20;
constexpr size_t kMaxLargePending = 8;

std::string FileName(Env* env) {
  static std::atomic<int> number{0};
  return absl::StrFormat("events.out.tfevents.%010d.%s.%d.%d", static_cast<int64_t>(env->NowSeconds()), env->HostName(),
                         env->ProcessId(), number++);
}

}  // namespace

EventWriter::~EventWriter() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void EventWriter::StartAt(int64_t step) { AddEvent(StartEvent(env_->NowSeconds(), step)); }

void EventWriter::AddScalars(int64_t step, const std::vector<ScalarSummary>& scalars) {
  AddEvent(ScalarsEvent(env_->NowSeconds(), step, scalars));
}

void EventWriter::AddGraph(int64_t step, size_t bytes, MakeGraph make) {
  Add({bytes, [time = env_->NowSeconds(), step, make = std::move(make)] { return GraphEvent(time, step, make()); }});
}

void EventWriter::AddValues(int64_t step, size_t bytes, MakeValues make) {
  Add({bytes, [time = env_->NowSeconds(), step, make = std::move(make)]() -> absl::StatusOr<std::string> {
         TD_ASSIGN_OR_RETURN(const std::vector<std::string> values, make());
         return values.empty() ? std::string() : SummaryEvent(time, step, values);
       }});
}

void EventWriter::AddEvent(std::string event) {
  const size_t bytes = event.size();
  Add({bytes, [event = std::move(event)] { return event; }});
}

void EventWriter::Add(Pending event) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (failed_) return;
  pending_bytes_ += event.bytes;
  pending_.push_back(std::move(event));
  // A few events may exceed the limit of bytes, since a single event may be large.
  if (pending_bytes_ > kMaxPendingBytes && pending_.size() > kMaxLargePending) {
    return GiveUp(absl::ResourceExhaustedError(absl::StrCat(directory_, ": the disk is too slow")));
  }
  if (!std::exchange(tried_thread_, true)) {
    absl::StatusOr<std::thread> thread = StartThread("writing summaries", [this] { Run(); });
    if (thread.ok()) {
      thread_ = *std::move(thread);
    } else {
      TD_LOG(WARNING) << "training waits for its summaries to be written: " << thread.status().message();
    }
  }
  if (thread_.joinable()) {
    changed_.notify_all();
    return;
  }
  pending_bytes_ = 0;
  if (absl::Status status = Write(std::exchange(pending_, {})); !status.ok()) GiveUp(status);
}

void EventWriter::Flush() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return failed_ || (pending_.empty() && !writing_); });
}

void EventWriter::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || !pending_.empty(); });
    if (pending_.empty()) return;
    const std::vector<Pending> events = std::exchange(pending_, {});
    pending_bytes_ = 0;
    writing_ = true;
    lock.unlock();
    const absl::Status status = Write(events);
    lock.lock();
    writing_ = false;
    if (!status.ok()) GiveUp(status);
    changed_.notify_all();
  }
}

absl::Status EventWriter::Write(const std::vector<Pending>& events) {
  return CatchResourceErrors("writing summaries", [&]() -> absl::Status {
    std::string records;
    for (const Pending& pending : events) {
      TD_ASSIGN_OR_RETURN(const std::string event, pending.make());
      if (!event.empty()) AppendRecord(event, &records);
    }
    return records.empty() ? absl::OkStatus() : AppendToFile(records);
  });
}

absl::Status EventWriter::AppendToFile(const std::string& records) {
  if (file_ == nullptr || !env_->Exists(path_)) {
    TD_RETURN_IF_ERROR(env_->CreateDirs(directory_));
    path_ = JoinPath(directory_, FileName(env_));
    TD_ASSIGN_OR_RETURN(file_, env_->CreateNewFile(path_));
    std::string begin;
    AppendRecord(VersionEvent(env_->NowSeconds()), &begin);
    TD_RETURN_IF_ERROR(file_->Append(begin));
  }
  return file_->Append(records);
}

void EventWriter::GiveUp(const absl::Status& status) {
  failed_ = true;
  pending_.clear();
  pending_bytes_ = 0;
  if (!warnings_->First(status.code())) return;
  TD_LOG(WARNING) << "No more summaries are written; training goes on without: " << status.message();
}

}  // namespace tandem
