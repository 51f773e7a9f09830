#include "runtime/cuda/cudnn_plan_text.h"

#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tandem {
namespace {

constexpr size_t kMaxBytes = 2048, kMaxKnobs = 64;

bool Number(absl::string_view text, int64_t& value) {
  int32_t parsed = 0;
  if (!absl::SimpleAtoi(text, &parsed) || parsed < 0) return false;
  value = parsed;
  return true;
}

}  // namespace

std::string FormatCudnnPlan(const CudnnPlanText& plan) {
  std::string text = absl::StrCat("cudnn ", plan.version, " engine ", plan.engine, " knobs");
  for (const auto& [knob, choice] : plan.knobs) absl::StrAppend(&text, " ", knob, "=", choice);
  return text;
}

absl::StatusOr<CudnnPlanText> ParseCudnnPlan(absl::string_view bytes) {
  const absl::Status bad = absl::FailedPreconditionError("this is no plan of cuDNN's");
  if (bytes.size() > kMaxBytes) return bad;
  const std::vector<absl::string_view> words = absl::StrSplit(bytes, ' ');
  CudnnPlanText plan;
  if (words.size() < 5 || words.size() > 5 + kMaxKnobs || words[0] != "cudnn" || words[2] != "engine" ||
      words[4] != "knobs" || !Number(words[1], plan.version) || !Number(words[3], plan.engine)) {
    return bad;
  }
  for (size_t i = 5; i < words.size(); ++i) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(words[i], absl::MaxSplits('=', 1));
    int64_t knob = 0, choice = 0;
    if (!Number(parts.first, knob) || !Number(parts.second, choice)) return bad;
    if (!plan.knobs.emplace(knob, choice).second) return bad;
  }
  return plan;
}

}  // namespace tandem
