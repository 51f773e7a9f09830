#include "estimator/parameter_server/own_batches.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/logging.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

constexpr char kExamples[] = "examples ";

}  // namespace

std::string InputPosition::ToText() const { return absl::StrCat(kExamples, examples, "\n", state); }

InputPosition InputPosition::FromText(absl::string_view text) {
  absl::string_view rest = text;
  InputPosition position;
  const size_t line = text.find('\n');
  if (!absl::ConsumePrefix(&rest, kExamples) || line == absl::string_view::npos ||
      !absl::SimpleAtoi(text.substr(0, line).substr(sizeof(kExamples) - 1), &position.examples)) {
    return {.state = std::string(text)};
  }
  position.state = std::string(text.substr(line + 1));
  return position;
}

absl::StatusOr<bool> OwnBatches::Next(BatchRound* round) {
  while (true) {
    TD_ASSIGN_OR_RETURN(const bool more, all_.NextInPass(round));
    if (!std::exchange(restored_, false) && !more) return false;
    if (!more) {
      TD_ASSIGN_OR_RETURN(const bool all, all_at_end_ ? all_at_end_(keep_end_) : !keep_end_);
      had_ended_ = !all;
      if (!all) return false;
      TD_LOG(INFO) << "The inputs of all workers had ended where the checkpoint was saved; starting them again.";
      TD_RETURN_IF_ERROR(all_.StartAgain());
      continue;
    }
    examples_ += round->examples;
    round->rows.clear();
    round->examples = 0;
    for (const std::vector<HostTensor>& batch : round->replicas) {
      const int64_t rows = batch.empty() || batch[0].rank() == 0 ? 0 : batch[0].shape()[0];
      round->rows.push_back(rows);
      round->examples += rows;
    }
    if (round->examples > 0) return true;
  }
}

absl::StatusOr<InputPosition> OwnBatches::Position() const {
  TD_ASSIGN_OR_RETURN(std::string state, all_.SaveState());
  return InputPosition{.state = std::move(state), .examples = examples_};
}

absl::Status OwnBatches::Restore(const InputPosition& position) {
  TD_RETURN_IF_ERROR(position.state.empty() ? all_.StartAgain() : all_.RestoreState(position.state));
  examples_ = position.examples;
  restored_ = !position.state.empty();
  return absl::OkStatus();
}

}  // namespace tandem
