#include "samples/time_history.h"

#include <numeric>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/logging.h"
#include "base/process_start.h"

namespace tandem {

absl::Status TimeHistory::Begin(HookContext& context) {
  global_batch_ = context.global_batch();
  seconds_.clear();
  return absl::OkStatus();
}

std::vector<std::string> TimeHistory::BeforeRun(RunContext& context) {
  started_ = clock_();
  return {};
}

absl::Status TimeHistory::AfterRun(RunContext& context, const RunValues& values) {
  seconds_.push_back(clock_() - started_);
  if (!std::exchange(start_logged_, true)) {
    TD_LOG(INFO) << absl::StrFormat("first step done %.2f s after the process started", SecondsSinceProcessStart());
  }
  return absl::OkStatus();
}

double TimeHistory::images_per_second() const {
  if (seconds_.empty()) return 0;
  const size_t first = seconds_.size() > 1 ? 1 : 0;
  const double total = std::accumulate(seconds_.begin() + first, seconds_.end(), 0.0);
  return total > 0 ? static_cast<double>(global_batch_) * (seconds_.size() - first) / total : 0;
}

absl::Status TimeHistory::End(RunContext& context) {
  if (!seconds_.empty()) TD_LOG(INFO) << absl::StrFormat("images/second: %.1f", images_per_second());
  return absl::OkStatus();
}

}  // namespace tandem
