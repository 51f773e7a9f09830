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
  // `min_workers`: see LaunchOptions; `full`: workers of the first start.
  Restarts(int64_t most, std::optional<int64_t> min_workers, int64_t full)
      : most_(most), full_(full), min_workers_(min_workers) {}

  // Number of restarts so far.
  int64_t count() const { return count_; }

  struct Next {
    bool start = false;
    int64_t workers = 0;  // number of workers of that start
    // "restart 1 of 3 with 4 workers", or why there is none; empty if restarts were not asked for.
    std::string text;
  };
  // To be called after a group of `workers` workers failed by `cause`; `rank` is set if that is a worker's own failure.
  Next AfterFailure(const TaskEnd& cause, std::optional<int64_t> rank, int64_t workers);

  // To be called for a start without a failure: earlier failures of a worker do not count any more.
  void Forget() { last_rank_.reset(); }

 private:
  const int64_t most_, full_;
  const std::optional<int64_t> min_workers_;
  int64_t count_ = 0;
  std::optional<int64_t> last_rank_;  // rank of the worker that failed in the previous start
};

}  // namespace tandem

#endif  // TANDEM_TOOLS_LAUNCH_RESTARTS_H_
