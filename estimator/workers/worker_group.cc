#include "estimator/workers/worker_group.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/status_macros.h"
#include "runtime/collectives/gather_texts.h"

namespace tandem {
namespace {

absl::Span<std::byte> Bytes(std::string& text) {
  return absl::MakeSpan(reinterpret_cast<std::byte*>(text.data()), text.size());
}
template <typename T>
absl::Span<const std::byte> BytesOf(const T& value) {
  return absl::MakeConstSpan(reinterpret_cast<const std::byte*>(&value), sizeof value);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> WorkerGroup::Gather(absl::string_view mine, absl::string_view what) {
  return GatherTexts(*group_, mine, what);
}

absl::StatusOr<std::string> WorkerGroup::FromChief(absl::string_view text, absl::string_view what) {
  uint64_t length = text.size();
  TD_RETURN_IF_ERROR(
      group_->Broadcast(absl::MakeSpan(reinterpret_cast<std::byte*>(&length), sizeof length), /*root=*/0, what));
  if (length > kMaxTextBytes) {
    return absl::InternalError(absl::StrCat(what, ": ", names_[0], " has a text of ", length, " bytes, and at most ",
                                            kMaxTextBytes, " can be sent"));
  }
  std::string result = is_chief() ? std::string(text) : std::string(length, '\0');
  TD_RETURN_IF_ERROR(group_->Broadcast(Bytes(result), /*root=*/0, what));
  return result;
}

absl::Status WorkerGroup::Agree(absl::string_view what, absl::string_view value, absl::string_view remedy) {
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> all, Gather(value, what));
  for (size_t r = 1; r < all.size(); ++r) {
    if (all[r] == all[0]) continue;
    return WithExitCode(
        absl::InvalidArgumentError(absl::StrCat("the workers differ in ", what, ": ", names_[0], " has { ", all[0],
                                                " } and ", names_[r], " has { ", all[r], " }; ", remedy)),
        kExitUsage);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::pair<WorkerGroup::Message, WorkerGroup::Meeting>> WorkerGroup::Exchange(Message mine) {
  std::vector<Message> all(size());
  TD_RETURN_IF_ERROR(group_->AllGather(
      BytesOf(mine), absl::MakeSpan(reinterpret_cast<std::byte*>(all.data()), all.size() * sizeof(Message)),
      "meeting between steps"));
  for (size_t r = 0; r < all.size(); ++r) {
    if (all[r].event <= Event::kEnd && all[r].wish <= Wish::kSignal) continue;
    return absl::InternalError(absl::StrCat(names_[r], " says between two steps what this worker does not know; start ",
                                            "all with the same program"));
  }
  Meeting meeting;
  const auto evaluates = [](const Message& m) { return m.event == Event::kEvaluateTogether; };
  const auto one = std::find_if(all.begin(), all.end(), evaluates);
  if (const auto other = std::find_if_not(all.begin(), all.end(), evaluates); one != all.end() && other != all.end()) {
    return WithExitCode(absl::FailedPreconditionError(absl::StrCat(
                            names_[one - all.begin()], " evaluates between two steps, and ",
                            names_[other - all.begin()], " does not; call Evaluate at the same step on all workers")),
                        kExitUsage);
  }
  for (size_t r = 0; r < all.size(); ++r) {
    if (all[r].event == Event::kStep && all[0].event == Event::kStep && all[r].detail != all[0].detail) {
      return WithExitCode(
          absl::InvalidArgumentError(absl::StrCat(
              "hooks have set other step scalars at ", names_[r], " than at ", names_[0],
              "; set a learning rate in a hook that all workers have, from values that are the same on all of them")),
          kExitUsage);
    }
    if (all[r].wish > meeting.wish) meeting = {all[r].wish, static_cast<int>(r)};
  }
  return std::make_pair(all[0], meeting);
}

absl::StatusOr<WorkerGroup::Meeting> WorkerGroup::Meet(Wish mine, const std::function<uint64_t()>& scalars) {
  for (;;) {
    TD_ASSIGN_OR_RETURN(const auto met,
                        Exchange({.detail = scalars ? scalars() : 0, .event = Event::kStep, .wish = mine}));
    if (met.first.event == Event::kStep) return met.second;
    if (met.first.event == Event::kEnd) {
      return absl::InternalError(absl::StrCat("the chief has ended its training, and ", names_[rank()], " has not"));
    }
    TD_RETURN_IF_ERROR(Join(met.first));
  }
}

absl::Status WorkerGroup::AnnounceEvaluation(uint64_t which) {
  return Exchange({.detail = which, .event = Event::kEvaluate, .wish = Wish::kGoOn}).status();
}

absl::Status WorkerGroup::MeetForEvaluation() {
  return Exchange({.detail = 0, .event = Event::kEvaluateTogether, .wish = Wish::kGoOn}).status();
}

absl::Status WorkerGroup::AnnounceSave() {
  return Exchange({.detail = 0, .event = Event::kSave, .wish = Wish::kGoOn}).status();
}

absl::Status WorkerGroup::MeetAtEnd() {
  for (;;) {
    TD_ASSIGN_OR_RETURN(const auto met, Exchange({.detail = 0, .event = Event::kEnd, .wish = Wish::kGoOn}));
    if (met.first.event == Event::kEnd) return absl::OkStatus();
    if (met.first.event == Event::kStep) {
      return absl::InternalError(absl::StrCat(names_[rank()], " has ended its training, and the chief has not"));
    }
    TD_RETURN_IF_ERROR(Join(met.first));
  }
}

absl::Status WorkerGroup::Join(const Message& chiefs) {
  if (chiefs.event == Event::kEvaluate) return JoinEvaluation(chiefs.detail);
  return on_save_ ? on_save_() : absl::InternalError(absl::StrCat(names_[rank()], " takes no part in checkpoints"));
}

absl::Status WorkerGroup::JoinEvaluation(uint64_t which) {
  if (!on_evaluate_) {
    return absl::FailedPreconditionError(
        "the chief evaluates inside of its training, and this worker does not know with what input; call "
        "TrainAndEvaluate, or evaluate between trainings");
  }
  joined_ = true;
  const auto done = absl::MakeCleanup([this] { joined_ = false; });
  return on_evaluate_(which);
}

}  // namespace tandem
