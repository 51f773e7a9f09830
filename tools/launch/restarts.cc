#include "tools/launch/restarts.h"

#include "absl/strings/str_cat.h"

namespace tandem {

Restarts::Next Restarts::AfterFailure(const TaskEnd& cause, std::optional<int64_t> rank, int64_t workers) {
  if (most_ == 0) return {};
  if (!IsTemporary(cause)) {
    return {.text = absl::StrCat("not started again: exit code ", cause.code,
                                 " is permanent, another start would end in the same way")};
  }
  if (count_ == most_) return {.text = absl::StrCat("not started again: no restart of ", most_, " is left")};
  ++count_;
  const bool again = rank && rank == last_rank_;
  const int64_t next_workers = FewerWorkers(workers, full_);
  const bool fewer = again && min_workers_ && next_workers >= *min_workers_;
  last_rank_ = again ? std::nullopt : rank;
  Next next = {.start = true, .workers = fewer ? next_workers : workers};
  next.text = absl::StrCat("restart ", count_, " of ", most_, " with ", next.workers,
                           next.workers == 1 ? " worker" : " workers",
                           fewer ? ", fewer, as the same one failed twice" : "", ", ", most_ - count_, " left");
  return next;
}

}  // namespace tandem
