#include "cluster/roster.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/exit_code.h"
#include "base/printable.h"

namespace tandem {
namespace {

absl::Status Unavailable(absl::string_view message) {
  return WithExitCode(absl::UnavailableError(message), kExitTemporary);
}

absl::Status DiffersOrIsTaken(absl::string_view message) {
  return WithExitCode(absl::InvalidArgumentError(message), kExitUsage);
}

// True for an error whose cause is probably in another process.
bool MayFollow(const absl::Status& why) {
  return absl::IsUnavailable(why) || absl::IsDeadlineExceeded(why) || absl::IsAborted(why) || absl::IsCancelled(why);
}

}  // namespace

std::string RankList(const std::vector<int64_t>& ranks) {
  constexpr size_t kMost = 16;
  const std::vector<int64_t> first(ranks.begin(), ranks.begin() + std::min(ranks.size(), kMost));
  return absl::StrCat(ranks.size() == 1 ? "rank " : "ranks ", absl::StrJoin(first, ", "),
                      ranks.size() > kMost ? absl::StrCat(" and ", ranks.size() - kMost, " more") : "");
}

std::string Shown(absl::string_view text) {
  constexpr size_t kMost = 200;
  return PrintableLine(text.size() > kMost ? absl::StrCat(text.substr(0, kMost), "...") : text);
}

Roster::Roster(const Cluster& cluster, absl::string_view who, Facts facts, double deadline_seconds,
               double start_deadline_seconds, SteadyTime now)
    : world_size_(cluster.world_size),
      has_chief_(cluster.task.type == TaskType::kChief),
      who_(Shown(who)),
      facts_(std::move(facts)),
      deadline_(deadline_seconds),
      start_deadline_(start_deadline_seconds),
      start_(now),
      last_tick_(now),
      pause_end_(now) {}

absl::Status Roster::Admit(const Comer& comer, SteadyTime now) {
  if (!verdict_.ok()) {
    ++refused_;
    return verdict_;
  }
  const std::string who = absl::StrCat("rank ", comer.rank, " (", Shown(comer.who), ")");
  if (const std::string difference = Difference(comer); !difference.empty()) {
    absl::Status status = DiffersOrIsTaken(absl::StrCat("the processes differ in ", difference, "; ", who,
                                                        " differs; start all with the same program and settings"));
    // Until all processes have joined, a difference in world size or facts ends the whole cluster. Later only the new
    // process is refused, because it does not belong to this cluster.
    if (!complete()) {
      ++refused_;
      Decide(status);
    }
    return status;
  }
  if (auto found = peers_.find(comer.rank); found != peers_.end()) {
    return DiffersOrIsTaken(absl::StrCat("rank ", comer.rank, " is taken: ", Name(comer.rank), " has ",
                                         found->second.left ? "been here and has left" : "come before", "; this is ",
                                         who,
                                         "; give each process a rank of its own, and each job an address of its own"));
  }
  peers_[comer.rank] = Peer{Shown(comer.who), now};
  return absl::OkStatus();
}

std::string Roster::Difference(const Comer& comer) const {
  if (comer.world_size != world_size_) {
    return absl::StrCat("world size: ", world_size_, " on rank 0, ", comer.world_size, " on rank ", comer.rank);
  }
  const auto differs = [&](absl::string_view name, const std::string* here, const std::string* there) {
    const auto shown = [](const std::string* value) {
      return value ? absl::StrCat("\"", Shown(*value), "\"") : "none";
    };
    return absl::StrCat(Shown(name), ": ", shown(here), " on rank 0, ", shown(there), " on rank ", comer.rank);
  };
  for (const auto& [name, value] : facts_) {
    auto found = comer.facts.find(name);
    if (found == comer.facts.end()) return differs(name, &value, nullptr);
    if (found->second != value) return differs(name, &value, &found->second);
  }
  for (const auto& [name, value] : comer.facts) {
    if (!facts_.contains(name)) return differs(name, nullptr, &value);
  }
  return "";
}

void Roster::Decide(absl::Status verdict) {
  if (verdict_.ok()) verdict_ = std::move(verdict);
}

bool Roster::NoticePause(SteadyTime now) {
  const std::chrono::duration<double> gap = now - last_tick_;
  if (gap <= deadline_ / 2) return false;
  last_tick_ = pause_end_ = now;
  pause_ = gap;
  for (auto& [rank, peer] : peers_) peer.heard = now;
  if (suspicion_) suspicion_->since = now;
  return true;
}

void Roster::Broke(int64_t rank, SteadyTime now) {
  NoticePause(now);
  const Peer& peer = peers_[rank];
  if (peer.left || peer.gave_up) return;
  if (pause_ > deadline_ && now - pause_end_ < deadline_) {
    return Decide(Unavailable(
        absl::StrFormat("%s stood still for %.1f s, and the others have taken it for lost", Name(0), pause_.count())));
  }
  Decide(Unavailable(absl::StrCat(Name(rank), " is lost: its connection broke")));
}

void Roster::GaveUp(int64_t rank, const absl::Status& why, SteadyTime now) {
  NoticePause(now);
  peers_[rank].gave_up = true;
  constexpr size_t kMost = 8192;
  const absl::Status verdict =
      Unavailable(absl::StrCat(Name(rank), " gave up: ", Printable(absl::string_view(why.message()).substr(0, kMost))));
  // If the process failed for a reason of its own, starting again does not help, so the others end with its exit code.
  if (!MayFollow(why)) return Decide(WithExitCode(verdict, ExitCodeFor(why)));
  if (!suspicion_) suspicion_ = Suspicion{verdict, now};
}

void Roster::Tick(SteadyTime now) {
  if (NoticePause(now)) return;
  last_tick_ = now;
  if (!complete() && now - start_ > start_deadline_) {
    Decide(Unavailable(MissingRanks(absl::StrFormat("not come within %g s", start_deadline_.count()))));
  }
  const std::pair<const int64_t, Peer>* silent = nullptr;
  bool all_heard = true;
  for (const auto& entry : peers_) {
    const auto& [rank, peer] = entry;
    if (rank == 0 || peer.left || peer.gave_up) continue;
    if (silent == nullptr || peer.heard < silent->second.heard) silent = &entry;
    all_heard &= suspicion_ && peer.heard > suspicion_->since;
  }
  if (silent != nullptr && now - silent->second.heard > deadline_) {
    const std::chrono::duration<double> silence = now - silent->second.heard;
    Decide(Unavailable(
        absl::StrFormat("%s is lost: it has been silent for %.1f s", Name(silent->first), silence.count())));
  }
  if (suspicion_ && all_heard) Decide(suspicion_->verdict);
}

void Roster::EndOfCoordinator() {
  if (suspicion_) Decide(suspicion_->verdict);
  Decide(Unavailable(absl::StrCat(Name(0), ", where the processes meet, has left before the others")));
}

bool Roster::all_others_left() const {
  return std::all_of(peers_.begin(), peers_.end(),
                     [](const auto& entry) { return entry.first == 0 || entry.second.left || entry.second.gave_up; });
}

std::optional<int64_t> Roster::a_rank_that_left() const {
  for (const auto& [rank, peer] : peers_) {
    if (peer.left) return rank;
  }
  return std::nullopt;
}

std::string Roster::Name(int64_t rank) const {
  if (auto found = peers_.find(rank); found != peers_.end()) {
    return absl::StrCat("rank ", rank, " (", found->second.who, ")");
  }
  if (rank == 0) return absl::StrCat("rank 0 (", who_, ")");
  return absl::StrCat("rank ", rank, " (worker ", rank - (has_chief_ ? 1 : 0), ")");
}

std::string Roster::Names(const std::vector<int64_t>& ranks) const {
  constexpr size_t kMost = 4;
  const std::vector<int64_t> first(ranks.begin(), ranks.begin() + std::min(ranks.size(), kMost));
  const auto append = [this](std::string* out, int64_t rank) { absl::StrAppend(out, Name(rank)); };
  return absl::StrCat(absl::StrJoin(first, ", ", append),
                      ranks.size() > kMost ? absl::StrCat(" and ", ranks.size() - kMost, " more") : "");
}

std::string Roster::Missing() const { return MissingRanks("not come"); }

std::string Roster::MissingRanks(absl::string_view verb) const {
  std::vector<int64_t> missing, there;
  for (int64_t rank = 0; rank < world_size_; ++rank) (peers_.contains(rank) ? there : missing).push_back(rank);
  return absl::StrCat(Names(missing), missing.size() == 1 ? " has " : " have ", verb, "; ", there.size(), " of ",
                      world_size_, there.size() == 1 ? " is there: " : " are there: ", RankList(there));
}

}  // namespace tandem
