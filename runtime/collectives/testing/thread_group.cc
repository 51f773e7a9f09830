#include "runtime/collectives/testing/thread_group.h"

#include <condition_variable>
#include <cstring>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/collectives/reduction_tree.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

// The values of the ranks, and the place where they wait for each other.
class Meeting {
 public:
  explicit Meeting(int size) : given(size) {}

  absl::Status Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!error_.ok()) return error_;
    if (++waiting_ == static_cast<int>(given.size())) {
      waiting_ = 0;
      ++round_;
      changed_.notify_all();
      return absl::OkStatus();
    }
    const int64_t round = round_;
    changed_.wait(lock, [&] { return round_ != round || !error_.ok(); });
    return round_ != round ? absl::OkStatus() : error_;
  }

  void Fail(const absl::Status& why) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (error_.ok()) error_ = why;
    changed_.notify_all();
  }
  absl::Status error() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return error_;
  }

  std::vector<const void*> given;  // indexed by rank; valid between two waits

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  int64_t round_ = 0;
  absl::Status error_;
};

class ThreadGroup final : public ProcessGroup {
 public:
  ThreadGroup(std::shared_ptr<Meeting> meeting, int rank) : meeting_(std::move(meeting)), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(meeting_->given.size()); }
  std::string transport() const override { return "threads"; }

  absl::Status DoAllReduce(format::ReduceKind kind, absl::Span<const Values> values, absl::Span<const bool> present,
                           absl::string_view, const ResultFn& on_result) override {
    for (const Values& v : values) {
      const auto bytes = static_cast<size_t>(v.count) * SizeOf(v.dtype);
      std::vector<char> result(bytes);
      meeting_->given[rank_] = v.data;
      TD_RETURN_IF_ERROR(meeting_->Wait());
      std::vector<const void*> leaves;
      bool any = false;
      for (int r = 0; r < size(); ++r) {
        leaves.push_back(present[r] ? meeting_->given[r] : nullptr);
        any |= present[r];
      }
      if (any) TreeReduce(kind, v.dtype, leaves, result.data(), v.count);
      TD_RETURN_IF_ERROR(meeting_->Wait());  // all ranks have read the values
      if (any && bytes > 0) std::memcpy(v.data, result.data(), bytes);
      if (any && on_result) on_result(v.data, v.count);
    }
    return absl::OkStatus();
  }

  absl::Status AllGather(absl::Span<const std::byte> mine, absl::Span<std::byte> all, absl::string_view) override {
    if (all.size() != mine.size() * size()) return absl::InvalidArgumentError("AllGather: wrong size");
    meeting_->given[rank_] = mine.data();
    TD_RETURN_IF_ERROR(meeting_->Wait());
    for (int r = 0; r < size() && !mine.empty(); ++r) {
      std::memcpy(all.data() + r * mine.size(), meeting_->given[r], mine.size());
    }
    return meeting_->Wait();
  }

  absl::Status Broadcast(absl::Span<std::byte> bytes, int root, absl::string_view) override {
    meeting_->given[rank_] = bytes.data();
    TD_RETURN_IF_ERROR(meeting_->Wait());
    if (rank_ != root && !bytes.empty()) std::memcpy(bytes.data(), meeting_->given[root], bytes.size());
    return meeting_->Wait();
  }

  void Abort(const absl::Status& why) override { meeting_->Fail(why); }
  absl::Status status() const override { return meeting_->error(); }
  bool waits_for_network() const override { return true; }

 private:
  const std::shared_ptr<Meeting> meeting_;
  const int rank_;
};

}  // namespace

std::vector<std::unique_ptr<ProcessGroup>> MakeThreadGroups(int size) {
  auto meeting = std::make_shared<Meeting>(size);
  std::vector<std::unique_ptr<ProcessGroup>> groups;
  for (int r = 0; r < size; ++r) groups.push_back(std::make_unique<ThreadGroup>(meeting, r));
  return groups;
}

}  // namespace tandem
