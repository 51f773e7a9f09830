#include "estimator/hooks/progress_hook.h"

#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tandem {
namespace {

constexpr double kInterval = 0.2;  // seconds
constexpr double kStall = 0.02;    // of the time, above which waiting for input is shown
constexpr char kClearLine[] = "\033[K";

}  // namespace

bool StderrIsTerminal() { return isatty(STDERR_FILENO) == 1; }

void WriteToStderr(absl::string_view text) {
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;  // a display only: nothing is lost
}

absl::Status ProgressHook::AfterCreateSession(RunContext& context) {
  last_time_ = clock_();
  examples_ = 0;
  input_seconds_ = 0;
  return absl::OkStatus();
}

absl::Status ProgressHook::AfterRun(RunContext& context, const RunValues& values) {
  examples_ += values.examples;
  input_seconds_ += values.input_seconds;
  const double now = clock_();
  if (now - last_time_ < kInterval) return absl::OkStatus();
  const std::string total = max_steps_ > 0 ? absl::StrCat("/", max_steps_) : "";
  const double waiting = std::min(1.0, input_seconds_ / (now - last_time_));
  const std::string stall = waiting > kStall ? absl::StrFormat("  input wait %.0f %%", 100 * waiting) : "";
  write_(absl::StrFormat("%sstep %d%s  loss %.4f  %.0f images/s%s\r", kClearLine, context.global_step(), total,
                         values.Number("loss"), examples_ / (now - last_time_), stall));
  last_time_ = now;
  examples_ = 0;
  input_seconds_ = 0;
  return absl::OkStatus();
}

absl::Status ProgressHook::End(RunContext& context) {
  write_(kClearLine);
  return absl::OkStatus();
}

}  // namespace tandem
