#include "estimator/hooks/progress_line.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/printable.h"

namespace tandem {
namespace {

// The fraction of the time above which the wait for input is shown.
constexpr double kStall = 0.02;

// A part of the line. If there is no room, the part with the largest rank is left out first; among equal ranks the
// last.
struct Part {
  std::string text;
  int rank;
};
enum Rank { kStep, kTimeLeft, kLoss, kRate, kEpoch, kMetric, kInputWait };

std::string EpochText(const Progress& p) {
  // The epoch of the last step: a step at the end of an epoch belongs to that epoch.
  const double epoch = std::max(1.0, std::ceil(static_cast<double>(p.step) / p.steps_per_epoch - 1e-9));
  if (p.last_step <= 0) return absl::StrFormat("epoch %.0f", epoch);
  return absl::StrFormat("epoch %.0f/%.0f", epoch,
                         std::ceil(static_cast<double>(p.last_step) / p.steps_per_epoch - 1e-9));
}

int Width(const std::vector<Part>& parts) {
  int width = 2 * std::max(0, static_cast<int>(parts.size()) - 1);
  for (const Part& part : parts) width += static_cast<int>(part.text.size());
  return width;
}

}  // namespace

std::string DurationText(double seconds) {
  const auto s = static_cast<int64_t>(std::ceil(std::min(seconds, 1e15)));
  if (s < 3600) return absl::StrFormat("%d:%02d", s / 60, s % 60);
  if (s < 86400) return absl::StrFormat("%d:%02d:%02d", s / 3600, s / 60 % 60, s % 60);
  return absl::StrFormat("%d d %d h", s / 86400, s / 3600 % 24);
}

std::string ProgressLine(const Progress& p, int columns) {
  std::vector<Part> parts;
  if (p.steps_per_epoch > 0) parts.push_back({EpochText(p), kEpoch});
  parts.push_back({absl::StrCat("step ", p.step, p.last_step > 0 ? absl::StrCat("/", p.last_step) : ""), kStep});
  parts.push_back({absl::StrFormat("loss %.4f", p.loss), kLoss});
  for (const auto& [name, value] : p.metrics) {
    if (name != "loss") parts.push_back({absl::StrFormat("%s %.4g", PrintableLine(name), value), kMetric});
  }
  const double rate = p.images_per_second;
  parts.push_back(
      {absl::StrCat(rate >= 10 ? absl::StrFormat("%.0f", rate) : absl::StrFormat("%.2g", rate), " examples/s"), kRate});
  if (p.input_wait > kStall) parts.push_back({absl::StrFormat("input wait %.0f %%", 100 * p.input_wait), kInputWait});
  parts.push_back({absl::StrCat("ETA ", p.seconds_left < 0 ? "-" : DurationText(p.seconds_left)), kTimeLeft});
  while (parts.size() > 1 && Width(parts) > columns) {
    auto least = parts.begin();
    for (auto part = parts.begin(); part != parts.end(); ++part) {
      if (part->rank >= least->rank) least = part;
    }
    parts.erase(least);
  }
  std::string line;
  for (const Part& part : parts) absl::StrAppend(&line, line.empty() ? "" : "  ", part.text);
  return line.substr(0, std::max(0, columns));
}

}  // namespace tandem
