#include "estimator/hooks/progress_hook.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "estimator/hooks/progress_line.h"

namespace tandem {
namespace {

constexpr double kInterval = 0.2;  // least seconds between two updates of the line
constexpr char kClearLine[] = "\033[K";
constexpr int kUsualColumns = 80;

}  // namespace

bool StderrIsTerminal() { return isatty(STDERR_FILENO) == 1; }

void WriteToStderr(absl::string_view text) {
  // An error is ignored, because the text is only for display.
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

int ColumnsOfStderr() {
  winsize size = {};
  // Some terminals report a width of 0.
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsualColumns;
}

absl::Status ProgressHook::AfterCreateSession(RunContext& context) {
  const int64_t most = std::numeric_limits<int64_t>::max() - context.global_step();
  last_step_ = options_.steps > 0 ? context.global_step() + std::min(options_.steps, most) : options_.max_steps;
  first_step_ = -1;
  metrics_.clear();
  last_time_ = options_.clock();
  examples_ = 0;
  input_seconds_ = 0;
  return absl::OkStatus();
}

double ProgressHook::SecondsLeft(int64_t step, double now) const {
  if (last_step_ <= 0 || first_step_ < 0 || step <= first_step_) return -1;
  const double per_step = (now - first_time_) / static_cast<double>(step - first_step_);
  return per_step * static_cast<double>(std::max<int64_t>(0, last_step_ - step));
}

absl::Status ProgressHook::AfterRun(RunContext& context, const RunValues& values) {
  examples_ += values.examples;
  input_seconds_ += values.input_secs;
  const double now = options_.clock(), seconds = now - last_time_;
  const int64_t step = context.global_step();
  const double seconds_left = SecondsLeft(step, now);
  if (first_step_ < 0) {
    first_step_ = step;
    first_time_ = now;
  }
  if (seconds < kInterval) return absl::OkStatus();
  const Progress progress = {.step = step,
                             .last_step = last_step_,
                             .steps_per_epoch = options_.steps_per_epoch,
                             .loss = values.Number("loss"),
                             .metrics = metrics_,
                             .images_per_second = static_cast<double>(examples_) / seconds,
                             .input_wait = std::min(1.0, input_seconds_ / seconds),
                             .seconds_left = seconds_left};
  // Some terminals would wrap a line of the full width.
  options_.write(absl::StrCat(kClearLine, ProgressLine(progress, options_.columns() - 1), "\r"));
  last_time_ = now;
  examples_ = 0;
  input_seconds_ = 0;
  return absl::OkStatus();
}

absl::Status ProgressHook::End(RunContext& context) {
  options_.write(kClearLine);
  return absl::OkStatus();
}

}  // namespace tandem
