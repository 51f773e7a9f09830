#include "estimator/workers/worker_positions.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/json_parse.h"
#include "base/json_string.h"

namespace tandem {
namespace {

// The text is {"positions_of_workers": ["base64", ...]} or, if the input is shared,
// {"positions_in_shared_input": ["base64", ...], "examples": [1000, ...], "round": 64}; lists are by rank.
constexpr char kOwn[] = "positions_of_workers";
constexpr char kShared[] = "positions_in_shared_input";
constexpr char kExamples[] = "examples";
constexpr char kRound[] = "round";

bool BeginsWith(absl::string_view text, const char* key) {
  return absl::StartsWith(text, absl::StrCat("{\"", key, "\":"));
}

}  // namespace

std::string WorkerPositions::ToText() const {
  nlohmann::ordered_json json, list = nlohmann::ordered_json::array();
  for (const std::string& state : states) list.push_back(absl::Base64Escape(state));
  json[shared ? kShared : kOwn] = std::move(list);
  if (shared) {
    json[kExamples] = examples;
    json[kRound] = round;
  }
  return JsonString(json);
}

absl::StatusOr<std::optional<WorkerPositions>> WorkerPositions::FromText(absl::string_view text) {
  WorkerPositions positions{.shared = BeginsWith(text, kShared)};
  if (!positions.shared && !BeginsWith(text, kOwn)) return std::nullopt;
  const absl::Status damaged =
      absl::DataLossError("the positions of the workers' inputs cannot be read; take an earlier checkpoint");
  const auto json = ParseJson(text);
  const char* const key = positions.shared ? kShared : kOwn;
  if (!json.is_object() || !json.contains(key) || !json[key].is_array()) return damaged;
  for (const auto& entry : json[key]) {
    std::string state;
    if (!entry.is_string() || !absl::Base64Unescape(entry.get_ref<const std::string&>(), &state)) return damaged;
    positions.states.push_back(std::move(state));
  }
  if (!positions.shared) return positions;
  if (!json.contains(kRound) || !json[kRound].is_number_integer() || !json.contains(kExamples) ||
      !json[kExamples].is_array() || json[kExamples].size() != positions.states.size() || positions.states.empty()) {
    return damaged;
  }
  positions.round = json[kRound].get<int64_t>();
  for (const auto& entry : json[kExamples]) {
    if (!entry.is_number_integer()) return damaged;
    positions.examples.push_back(entry.get<int64_t>());
  }
  return positions;
}

size_t WorkerPositions::Earliest() const {
  return std::min_element(examples.begin(), examples.end()) - examples.begin();
}

std::string WorkerPositions::EarliestText() const {
  const size_t rank = Earliest();
  const int64_t again = *std::max_element(examples.begin(), examples.end()) - examples[rank];
  return absl::StrCat("The checkpoint has the positions of ", states.size(),
                      " workers in one input, which they do not share in the same way now: training goes on from the "
                      "earliest, that of the worker of rank ",
                      rank, "; up to ", again, " examples are taken again.");
}

}  // namespace tandem
