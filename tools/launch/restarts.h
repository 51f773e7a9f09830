// Restarts: decides whether and how a failed group is started again.
#ifndef TANDEM_TOOLS_LAUNCH_RESTARTS_H_
#define TANDEM_TOOLS_LAUNCH_RESTARTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "tools/launch/layout.h"
#include "tools/launch/outcome.h"

namespace tandem {

class Restarts {
 public:
  // `most` is the allowed number of restarts, `min_workers` as in LaunchOptions, and `full` the number of workers of
  // the first start.
  Restarts(int64_t most, std::optional<int64_t> min_workers, int64_t full)
      : most_(most), full_(full), min_workers_(min_workers) {}

  // Number of restarts so far.
  int64_t count() const { return count_; }

  struct Next {
    bool start = false;
    int64_t workers = 0;  // number of workers of the next start
    // "restart 1 of 3 with 4 workers", or the reason why there is no restart; empty if the user allowed none.
    std::string text;
  };
  // Must be called when a group of `workers` workers has failed because of the task `cause`. `rank` is set if that task
  // is a worker whose failure is its own.
  Next AfterFailure(const TaskEnd& cause, std::optional<int64_t> rank, int64_t workers);

  // Must be called when a group is started for another reason than a failure: earlier failures of a worker then count
  // no more.
  void Forget() { last_rank_.reset(); }

 private:
  const int64_t most_, full_;
  const std::optional<int64_t> min_workers_;
  int64_t count_ = 0;
  std::optional<int64_t> last_rank_;  // rank of the worker that failed in the previous start
};

}  // namespace tandem

#endif  // TANDEM_TOOLS_LAUNCH_RESTARTS_H_
