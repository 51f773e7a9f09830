#include "runtime/cuda/libraries/cudnn_plan_text.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace tandem {
namespace {

constexpr size_t kMaxBytes = 2048, kMaxKnobs = 64;
constexpr absl::string_view kPreferred = "preferred";

bool Number(absl::string_view text, int64_t& value) {
  int32_t parsed = 0;
  if (!absl::SimpleAtoi(text, &parsed) || parsed < 0) return false;
  value = parsed;
  return true;
}

// True if the text looks like cuDNN's name of a plan: "eng49_k0=23_k2=-1".
bool IsPlanName(absl::string_view text) {
  return absl::StartsWith(text, "eng") && text.find_first_not_of("eng0123456789_k=-") == text.npos;
}

// True if a plan's name is that of the engine, alone or with settings behind it.
bool IsOfEngine(absl::string_view name, absl::string_view engine) {
  return absl::ConsumePrefix(&name, engine) && (name.empty() || name[0] == '_');
}

}  // namespace

std::string FormatCudnnPlan(const CudnnPlanText& plan) {
  std::string text = absl::StrCat("cudnn ", plan.version, " engine ", plan.engine, " knobs");
  for (const auto& [knob, choice] : plan.knobs) absl::StrAppend(&text, " ", knob, "=", choice);
  if (!plan.preferred.empty()) absl::StrAppend(&text, " ", kPreferred, " ", plan.preferred);
  return text;
}

absl::StatusOr<CudnnPlanText> ParseCudnnPlan(absl::string_view bytes) {
  const absl::Status bad = absl::FailedPreconditionError("this is no plan of cuDNN's");
  if (bytes.size() > kMaxBytes) return bad;
  std::vector<absl::string_view> words = absl::StrSplit(bytes, ' ');
  CudnnPlanText plan;
  if (words.size() >= 2 && words[words.size() - 2] == kPreferred) {
    if (!IsPlanName(words.back())) return bad;
    plan.preferred = std::string(words.back());
    words.resize(words.size() - 2);
  }
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

bool IsReplayOf(absl::string_view offered, absl::string_view replayed) {
  const std::set<absl::string_view> has = absl::StrSplit(replayed, '_');
  for (absl::string_view word : absl::StrSplit(offered, '_')) {
    if (has.count(word) == 0 && !absl::StartsWith(word, "k3=")) return false;
  }
  return true;
}

bool IsGroupedEngine(absl::string_view name) { return IsOfEngine(name, "eng0"); }

bool IsOfEvenPadsOnly(absl::string_view name) { return IsOfEngine(name, "eng1"); }

}  // namespace tandem
