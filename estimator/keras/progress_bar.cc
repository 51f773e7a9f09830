#include "estimator/keras/progress_bar.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "estimator/keras/console.h"
#include "estimator/keras/python_format.h"

namespace tandem::keras {
namespace {

constexpr int kBarWidth = 30;
constexpr double kLeastSecondsBetween = 0.05;

// Returns, for example, " 15ms/step".
std::string PerUnit(double seconds, absl::string_view unit) {
  if (seconds >= 1 || seconds == 0) return absl::StrFormat(" %.0fs/%s", seconds, unit);
  if (seconds >= 1e-3) return absl::StrFormat(" %.0fms/%s", seconds * 1e3, unit);
  return absl::StrFormat(" %.0fus/%s", seconds * 1e6, unit);
}

std::string RemainingTime(double seconds) {
  const auto whole = static_cast<int64_t>(std::clamp(seconds, 0.0, 1e15));
  if (seconds > 3600) return absl::StrFormat("%d:%02d:%02d", whole / 3600, whole % 3600 / 60, whole % 60);
  if (seconds > 60) return absl::StrFormat("%d:%02d", whole / 60, whole % 60);
  return absl::StrCat(whole, "s");
}

// The bar of one epoch, or of one evaluation.
class ProgressBar {
 public:
  ProgressBar(int verbose, std::optional<int64_t> target)
      : verbose_(verbose), target_(target), start_(ConsoleSeconds()) {}

  void set_target(int64_t target) { target_ = target; }

  void Update(int64_t current, const Logs& values, bool last) {
    for (const auto& [name, value] : values.values()) values_.Set(name, value);
    const double now = ConsoleSeconds();
    if (verbose_ == 1) {
      Draw(current, now, last);
    } else if (last) {
      WriteLine(now);
    }
  }

 private:
  void Draw(int64_t current, double now, bool last) {
    if (now - last_drawn_ < kLeastSecondsBetween && !last) return;
    const double step = SecondsPerStep(current, now);
    std::string bar = BarText(current);
    if (target_.has_value() && !last) {
      absl::StrAppend(&bar, " - ETA: ", RemainingTime(step * static_cast<double>(*target_ - current)));
    } else {
      absl::StrAppend(&bar, absl::StrFormat(" - %.0fs", now - start_), PerUnit(step, "step"));
    }
    for (const auto& [name, value] : values_.values()) {
      absl::StrAppend(&bar, " - ", name, ": ", PythonFixed(value, 4, std::fabs(value) > 1e-3 ? 'f' : 'e'));
    }
    const size_t before = width_;
    width_ = bar.size();
    if (before > width_) bar.append(before - width_, ' ');
    WriteToConsole(absl::StrCat(std::string(before, '\b'), "\r", bar, last ? "\n" : ""));
    last_drawn_ = now;
  }

  void WriteLine(double now) {
    const int64_t count = target_.value_or(0);
    std::string line = absl::StrCat(count, "/", count, absl::StrFormat(" - %.0fs", now - start_));
    for (const auto& [name, value] : values_.values()) {
      // Keras compares without fabs here, so it writes negative numbers with an exponent.
      absl::StrAppend(&line, " - ", name, ": ", PythonFixed(value, 4, value > 1e-3 ? 'f' : 'e'));
    }
    const double step = (now - start_) / static_cast<double>(std::max<int64_t>(count, 1));
    WriteToConsole(absl::StrCat(line, " -", PerUnit(now - start_, "epoch"), " -", PerUnit(step, "step"), "\n"));
  }

  std::string BarText(int64_t current) const {
    if (!target_.has_value()) return absl::StrFormat("%7d/Unknown", current);
    const int64_t target = std::max<int64_t>(*target_, 1);
    const int digits = static_cast<int>(absl::StrCat(target).size());
    const int filled = static_cast<int>(
        std::min<int64_t>(kBarWidth, static_cast<int64_t>(kBarWidth * (static_cast<double>(current) / target))));
    std::string bar = absl::StrFormat("%*d/%d [", digits, current, target);
    if (filled > 0) absl::StrAppend(&bar, std::string(filled - 1, '='), current < target ? ">" : "=");
    return absl::StrCat(bar, std::string(kBarWidth - filled, '.'), "]");
  }

  // Leaves out the first step, which includes the start-up, if there are others.
  double SecondsPerStep(int64_t current, double now) {
    if (current == 0) return 0;
    const double seconds = after_first_.has_value() && current > 1
                               ? (now - *after_first_) / static_cast<double>(current - 1)
                               : (now - start_) / static_cast<double>(current);
    if (current == 1) after_first_ = now;
    return seconds;
  }

  const int verbose_;
  std::optional<int64_t> target_;
  const double start_;
  double last_drawn_ = -std::numeric_limits<double>::infinity();
  std::optional<double> after_first_;
  Logs values_;
  size_t width_ = 0;  // width of the bar that is on the screen
};

class ProgressBarCallback : public Callback {
 public:
  explicit ProgressBarCallback(const FitParams& params)
      : verbose_(params.verbose), epochs_(params.epochs), target_(params.steps) {}
  std::string name() const override { return "ProgbarLogger"; }

  absl::Status OnTrainBegin() override { return in_fit_ = true, absl::OkStatus(); }
  absl::Status OnEpochBegin(int64_t epoch) override {
    Begin();
    if (epochs_ > 1) WriteToConsole(absl::StrCat("Epoch ", epoch + 1, "/", epochs_, "\n"));
    return absl::OkStatus();
  }
  absl::Status OnTrainBatchEnd(int64_t batch, const Logs& logs) override { return Add(batch, logs); }
  absl::Status OnEpochEnd(int64_t, Logs& logs) override { return End(logs); }

  // An evaluation within Fit has no bar of its own.
  absl::Status OnTestBegin() override {
    if (!in_fit_) Begin();
    return absl::OkStatus();
  }
  absl::Status OnTestBatchEnd(int64_t batch, const Logs& logs) override {
    return in_fit_ ? absl::OkStatus() : Add(batch, logs);
  }
  absl::Status OnTestEnd(const Logs& logs) override { return in_fit_ ? absl::OkStatus() : End(logs); }

 private:
  void Begin() {
    seen_ = 0;
    bar_ = std::make_unique<ProgressBar>(verbose_, target_);
  }
  absl::Status Add(int64_t batch, const Logs& logs) {
    // OnEpochBegin was not called if the run goes on in the middle of an epoch.
    if (bar_ == nullptr) Begin();
    seen_ = batch + 1;
    if (verbose_ == 1) bar_->Update(seen_, logs, /*last=*/false);
    return absl::OkStatus();
  }
  absl::Status End(const Logs& logs) {
    if (bar_ == nullptr) Begin();
    if (!target_.has_value()) bar_->set_target(*(target_ = seen_));
    bar_->Update(*target_, logs, /*last=*/true);
    return absl::OkStatus();
  }

  const int verbose_;
  const int64_t epochs_;
  std::optional<int64_t> target_;
  bool in_fit_ = false;
  int64_t seen_ = 0;
  std::unique_ptr<ProgressBar> bar_;
};

}  // namespace

CallbackPtr MakeProgressBar(const FitParams& params) { return std::make_shared<ProgressBarCallback>(params); }

}  // namespace tandem::keras
