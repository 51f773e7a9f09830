#include "estimator/workers/own_inputs.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/json_string.h"
#include "base/logging.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

// {"positions_of_workers": ["base64", ...]}, by rank.
constexpr char kKey[] = "positions_of_workers";
constexpr char kBegin[] = "{\"positions_of_workers\":";

absl::StatusOr<std::vector<std::string>> PositionsOf(absl::string_view state) {
  const auto json = nlohmann::json::parse(state.begin(), state.end(), nullptr, /*allow_exceptions=*/false);
  std::vector<std::string> positions;
  if (json.is_object() && json.contains(kKey) && json[kKey].is_array()) {
    for (const auto& entry : json[kKey]) {
      std::string position;
      if (!entry.is_string() || !absl::Base64Unescape(entry.get_ref<const std::string&>(), &position)) break;
      positions.push_back(std::move(position));
    }
    if (positions.size() == json[kKey].size()) return positions;
  }
  return absl::DataLossError("the positions of the workers' inputs cannot be read; take an earlier checkpoint");
}

}  // namespace

bool OwnInputs::Saved(absl::string_view state) { return absl::StartsWith(state, kBegin); }

absl::StatusOr<bool> OwnInputs::Combine(bool left, Round* round) {
  std::vector<int64_t> mine = round->rows;
  mine.push_back(left ? 1 : 0);
  std::vector<int64_t> all(mine.size() * workers_->size());
  const auto bytes = [](auto& numbers) {
    return absl::MakeSpan(reinterpret_cast<std::byte*>(numbers.data()), numbers.size() * sizeof(int64_t));
  };
  TD_RETURN_IF_ERROR(workers_->group().AllGather(bytes(mine), bytes(all), "the rows of all workers' batches"));
  round->rows.clear();
  bool any = false;
  for (size_t i = 0; i < all.size(); ++i) {
    if ((i + 1) % mine.size() == 0) {
      any = any || all[i] != 0;
    } else {
      round->rows.push_back(all[i]);
      if (all[i] > 0) ++batches_;
    }
  }
  round->examples = std::accumulate(round->rows.begin(), round->rows.end(), int64_t{0});
  return any;
}

absl::StatusOr<bool> OwnInputs::Next(Round* round) {
  for (;;) {
    TD_ASSIGN_OR_RETURN(const bool left, mine_->NextInPass(round));
    TD_ASSIGN_OR_RETURN(const bool any, Combine(left, round));
    if (any || !std::exchange(restored_, false)) {
      restored_ = false;
      return any;
    }
    TD_LOG(INFO) << "The inputs of all workers had ended where the checkpoint was saved; starting them again.";
    TD_RETURN_IF_ERROR(mine_->StartAgain());
  }
}

absl::StatusOr<std::string> OwnInputs::SaveState() {
  TD_ASSIGN_OR_RETURN(const std::string mine, mine_->SaveState());
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> all, workers_->Gather(mine, "the positions of the inputs"));
  nlohmann::json positions = nlohmann::json::array();
  for (const std::string& position : all) positions.push_back(absl::Base64Escape(position));
  return JsonString(nlohmann::json{{kKey, std::move(positions)}});
}

absl::Status OwnInputs::RestoreState(absl::string_view state) {
  if (!Saved(state)) {
    return absl::FailedPreconditionError(
        "the checkpoint has one position, in an input that all workers shared, and each has its own now (auto_shard)");
  }
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> positions, PositionsOf(state));
  if (static_cast<int>(positions.size()) != workers_->size()) {
    return absl::FailedPreconditionError(absl::StrCat("the checkpoint has the positions of ", positions.size(),
                                                      " workers' own inputs, and there are ", workers_->size(),
                                                      " workers"));
  }
  const absl::Status mine = mine_->RestoreState(positions[workers_->rank()]);
  if (!mine.ok() && !absl::IsFailedPrecondition(mine)) return mine;
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> problems,
                      workers_->Gather(mine.message(), "whether the inputs are those of the checkpoint"));
  for (size_t r = 0; r < problems.size(); ++r) {
    if (problems[r].empty()) continue;
    TD_RETURN_IF_ERROR(mine_->StartAgain());
    return absl::FailedPreconditionError(absl::StrCat("of the worker of rank ", r, ", ", problems[r]));
  }
  restored_ = true;
  return absl::OkStatus();
}

}  // namespace tandem
