#include "runtime/collectives/connect_wait.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/key_value_store.h"
#include "base/logging.h"
#include "base/steady_time.h"

namespace tandem {
namespace {

// The interval at which a wait asks the store whether a process is lost, and checks whether it is time for a log line.
constexpr absl::Duration kQuestionSlice = absl::Seconds(1);
constexpr absl::Duration kNotes = absl::Seconds(30);

}  // namespace

ConnectWait::ConnectWait(const ConnectOptions& options)
    : options_(options),
      began_(SteadyNow()),
      next_note_(began_ + options.note_after),
      next_question_(began_ + kQuestionSlice) {}

absl::Duration ConnectWait::Rest() const { return began_ + options_.deadline - SteadyNow(); }

std::string ConnectWait::Key(absl::string_view key) const { return absl::StrCat(options_.prefix, "/", key); }

absl::Status ConnectWait::Set(absl::string_view key, absl::string_view value) {
  return options_.store->Set(Key(key), value);
}

absl::StatusOr<std::string> ConnectWait::Get(absl::string_view key, int peer, absl::string_view what) {
  const std::string name = Key(key);
  while (true) {
    const absl::Duration rest = Rest(), note = next_note_ - SteadyNow();
    auto value = options_.store->Get(name, std::max(absl::Milliseconds(1), std::min({rest, note, kQuestionSlice})));
    if (!absl::IsDeadlineExceeded(value.status())) return value;
    if (Rest() <= absl::ZeroDuration()) {
      return absl::DeadlineExceededError(absl::StrCat("rank ", options_.rank, " of ", options_.size, ": rank ", peer,
                                                      " has not said ", what, " within ",
                                                      absl::FormatDuration(options_.deadline)));
    }
    Note([&] { return absl::StrCat("rank ", peer, " to say ", what); });
  }
}

absl::StatusOr<bool> ConnectWait::Continue(absl::FunctionRef<std::string()> whom) {
  if (SteadyNow() >= next_question_) {
    // No rank sets this key, so the answer is always an error. It is the store's own error if a process is lost.
    const absl::Status answer = options_.store->Get(Key("lost"), absl::Milliseconds(1)).status();
    if (!answer.ok() && !absl::IsDeadlineExceeded(answer)) return answer;
    next_question_ = SteadyNow() + kQuestionSlice;
  }
  if (Rest() <= absl::ZeroDuration()) return false;
  Note(whom);
  return true;
}

void ConnectWait::Note(absl::FunctionRef<std::string()> whom) {
  const absl::Duration now = SteadyNow();
  if (now < next_note_) return;
  next_note_ = now + kNotes;
  TD_LOG(INFO) << "Connecting rank " << options_.rank << " of " << options_.size << " has taken "
               << absl::FormatDuration(absl::Trunc(now - began_, absl::Milliseconds(100)))
               << " so far; still waiting for " << whom() << ".";
}

}  // namespace tandem
