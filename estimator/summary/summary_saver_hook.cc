#include "estimator/summary/summary_saver_hook.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tandem {

absl::Status SummarySaverHook::Begin(HookContext& context) {
  if (every_n_steps_ <= 0) {
    return absl::InvalidArgumentError(absl::StrCat("every_n_steps must be positive, got ", every_n_steps_));
  }
  context.Fetch("loss");
  return absl::OkStatus();
}

absl::Status SummarySaverHook::AfterCreateSession(RunContext& context) {
  last_step_ = context.global_step();
  next_step_ = last_step_ + 1;
  last_time_ = clock_();
  examples_ = 0;
  input_seconds_ = 0;
  writer_->StartAt(next_step_);
  return absl::OkStatus();
}

std::vector<std::string> SummarySaverHook::BeforeRun(RunContext& context) {
  return context.global_step() + 1 >= next_step_ ? std::vector<std::string>{"loss"} : std::vector<std::string>();
}

absl::Status SummarySaverHook::AfterRun(RunContext& context, const RunValues& values) {
  input_seconds_ += values.input_secs;
  if (!values.finite) return absl::OkStatus();
  examples_ += values.examples;
  const int64_t step = context.global_step();
  if (step < next_step_) return absl::OkStatus();
  std::vector<ScalarSummary> scalars = {{"loss", values.Number("loss")}};
  const double now = clock_(), seconds = now - last_time_;
  // No rates are written after the first step, whose time is not typical.
  if (step - last_step_ >= every_n_steps_ && seconds > 0) {
    scalars.push_back({"global_step/sec", static_cast<double>(step - last_step_) / seconds});
    scalars.push_back({"examples/sec", static_cast<double>(examples_) / seconds});
    scalars.push_back({"input_wait", std::min(1.0, input_seconds_ / seconds)});
  }
  writer_->AddScalars(step, scalars);
  last_step_ = step;
  next_step_ = step + every_n_steps_;
  last_time_ = now;
  examples_ = 0;
  input_seconds_ = 0;
  return absl::OkStatus();
}

absl::Status SummarySaverHook::End(RunContext&) {
  writer_->Flush();
  return absl::OkStatus();
}

}  // namespace tandem
