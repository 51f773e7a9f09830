#include "cluster/shared_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tandem {
namespace {

constexpr bool kAgreement = true;

std::string Quoted(absl::string_view text) { return absl::StrCat("\"", Shown(text), "\""); }

}  // namespace

void SharedStore::Set(const std::string& key, std::string value, const Answer& answer) {
  const auto [set, is_new] = values_.try_emplace(key, std::move(value));
  if (!is_new && set->second != value) {
    return answer(absl::AlreadyExistsError(absl::StrCat(
        "key ", Quoted(key), " has another value already: ", Quoted(set->second), ", not ", Quoted(value))));
  }
  answer("");
  const auto [first, last] = gets_.equal_range(key);
  for (auto waiter = first; waiter != last; ++waiter) waiter->second.answer(set->second);
  gets_.erase(first, last);
}

void SharedStore::Get(const std::string& key, const void* ticket, SteadyTime deadline, Answer answer) {
  if (auto found = values_.find(key); found != values_.end()) return answer(found->second);
  gets_.emplace(key, Waiter{ticket, deadline, std::move(answer)});
}

void SharedStore::Barrier(const std::string& name, int64_t rank, const void* ticket, SteadyTime deadline,
                          Answer answer) {
  Meet({!kAgreement, name}, Waiter{ticket, deadline, std::move(answer), rank});
}

void SharedStore::Agree(const std::string& name, int64_t rank, std::string value, const void* ticket,
                        SteadyTime deadline, Answer answer) {
  if (agreed_.contains(name)) {
    return answer(absl::InvalidArgumentError(absl::StrCat("agreement ", Quoted(name), " has been made already")));
  }
  Meet({kAgreement, name}, Waiter{ticket, deadline, std::move(answer), rank, std::move(value)});
}

void SharedStore::Meet(MeetingKey key, Waiter waiter) {
  Meeting& meeting = meetings_[key];
  meeting.what = absl::StrCat(key.first == kAgreement ? "agreement " : "barrier ", Quoted(key.second));
  for (const Waiter& other : meeting.waiters) {
    if (other.rank != waiter.rank) continue;
    return waiter.answer(absl::InvalidArgumentError(
        absl::StrCat(meeting.what, ": ", roster_->Name(waiter.rank), " is there already, by another thread")));
  }
  meeting.waiters.push_back(std::move(waiter));
  if (static_cast<int64_t>(meeting.waiters.size()) < roster_->world_size()) return Left();
  const absl::Status status = key.first == kAgreement ? Compare(key.second, meeting) : absl::OkStatus();
  if (key.first == kAgreement) agreed_.insert(key.second);
  for (const Waiter& each : meeting.waiters) each.answer(status.ok() ? absl::StatusOr<std::string>("") : status);
  meetings_.erase(key);
}

absl::Status SharedStore::Compare(const std::string& name, const Meeting& meeting) const {
  std::map<std::string, std::vector<int64_t>> ranks;  // for each value, the ranks that passed it
  for (const Waiter& waiter : meeting.waiters) ranks[waiter.value].push_back(waiter.rank);
  if (ranks.size() == 1) return absl::OkStatus();
  std::vector<std::pair<std::vector<int64_t>, std::string>> values;
  for (auto& [value, list] : ranks) {
    std::sort(list.begin(), list.end());
    values.emplace_back(list, Quoted(value));
  }
  std::sort(values.begin(), values.end());  // the value of rank 0 comes first
  constexpr size_t kMost = 8;
  const size_t more = values.size() - std::min(values.size(), kMost);
  values.resize(values.size() - more);
  return absl::InvalidArgumentError(absl::StrCat("the processes differ in ", Shown(name), ": ",
                                                 absl::StrJoin(values, "; ",
                                                               [](std::string* out, const auto& entry) {
                                                                 absl::StrAppend(out, entry.second, " on ",
                                                                                 RankList(entry.first));
                                                               }),
                                                 more > 0 ? absl::StrCat("; and ", more, " more values") : ""));
}

absl::Status SharedStore::Missing(const Meeting& meeting) const {
  std::set<int64_t> there;
  for (const Waiter& waiter : meeting.waiters) there.insert(waiter.rank);
  std::vector<int64_t> missing;
  for (int64_t rank = 0; rank < roster_->world_size(); ++rank) {
    if (!there.contains(rank)) missing.push_back(rank);
  }
  return absl::DeadlineExceededError(absl::StrCat(meeting.what, ": ", roster_->Names(missing),
                                                  missing.size() == 1 ? " has" : " have", " not come in time"));
}

bool SharedStore::Cancel(const void* ticket) {
  const auto is_it = [&](const Waiter& waiter) { return waiter.ticket == ticket; };
  if (std::erase_if(gets_, [&](const auto& entry) { return is_it(entry.second); }) > 0) return true;
  for (auto meeting = meetings_.begin(); meeting != meetings_.end(); ++meeting) {
    if (std::erase_if(meeting->second.waiters, is_it) == 0) continue;
    if (meeting->second.waiters.empty()) meetings_.erase(meeting);
    return true;
  }
  return false;
}

void SharedStore::Expire(SteadyTime now) {
  std::erase_if(gets_, [&](const auto& entry) {
    if (entry.second.deadline > now) return false;
    entry.second.answer(absl::DeadlineExceededError(
        absl::StrCat("key ", Quoted(entry.first), " has not been set in time, by any process")));
    return true;
  });
  for (auto& [key, meeting] : meetings_) {
    // Computed once, so that all waiters get the same list of missing processes.
    const absl::Status missing = Missing(meeting);
    std::erase_if(meeting.waiters, [&](const Waiter& waiter) {
      if (waiter.deadline <= now) waiter.answer(missing);
      return waiter.deadline <= now;
    });
  }
  std::erase_if(meetings_, [](const auto& entry) { return entry.second.waiters.empty(); });
}

void SharedStore::Left() {
  const std::optional<int64_t> left = roster_->a_rank_that_left();
  if (!left) return;
  for (const auto& [key, meeting] : meetings_) {
    const absl::Status status =
        absl::UnavailableError(absl::StrCat(meeting.what, ": ", roster_->Name(*left), " has left and will not come"));
    for (const Waiter& waiter : meeting.waiters) waiter.answer(status);
  }
  meetings_.clear();
}

void SharedStore::Fail(const absl::Status& status) {
  for (const auto& [key, waiter] : gets_) waiter.answer(status);
  gets_.clear();
  for (const auto& [key, meeting] : meetings_) {
    for (const Waiter& waiter : meeting.waiters) waiter.answer(status);
  }
  meetings_.clear();
}

SteadyTime SharedStore::NextDeadline() const {
  SteadyTime next = SteadyTime::max();
  for (const auto& [key, waiter] : gets_) next = std::min(next, waiter.deadline);
  for (const auto& [key, meeting] : meetings_) {
    for (const Waiter& waiter : meeting.waiters) next = std::min(next, waiter.deadline);
  }
  return next;
}

}  // namespace tandem
