#include "samples/time_history.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "tandem/base/logging.h"
#include "tandem/base/process_start.h"

namespace tandem {

absl::Status TimeHistory::Begin(HookContext& context) {
  global_batch_ = context.global_batch();
  steps_ = 0;
  first_seconds_ = later_seconds_ = 0;
  return absl::OkStatus();
}

std::vector<std::string> TimeHistory::BeforeRun(RunContext& context) {
  started_ = clock_();
  return {};
}

absl::Status TimeHistory::AfterRun(RunContext& context, const RunValues& values) {
  (steps_++ == 0 ? first_seconds_ : later_seconds_) += clock_() - started_;
  if (!std::exchange(start_logged_, true)) {
    TD_LOG(INFO) << absl::StrFormat("first step done %.2f s after the process started", SecondsSinceProcessStart());
  }
  return absl::OkStatus();
}

double TimeHistory::images_per_second() const {
  const int64_t steps = steps_ > 1 ? steps_ - 1 : steps_;
  const double seconds = steps_ > 1 ? later_seconds_ : first_seconds_;
  return seconds > 0 ? static_cast<double>(global_batch_ * steps) / seconds : 0;
}

absl::Status TimeHistory::End(RunContext& context) {
  if (steps_ > 0) TD_LOG(INFO) << absl::StrFormat("images/second: %.1f", images_per_second());
  return absl::OkStatus();
}

}  // namespace tandem
