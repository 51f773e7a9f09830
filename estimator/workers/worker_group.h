// WorkerGroup: the workers that train one model together, as an Estimator sees them.
#ifndef TANDEM_ESTIMATOR_WORKERS_WORKER_GROUP_H_
#define TANDEM_ESTIMATOR_WORKERS_WORKER_GROUP_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/collectives/process_group.h"

namespace tandem {

// What workers tell each other between steps. All of them call the same functions in the same order, but for the
// chief's announcements (Meet). Errors: those of ProcessGroup, and what is said below. Not thread-safe.
class WorkerGroup {
 public:
  // `names` says who a rank is in messages: "worker 2 (host b)". The group must outlive this.
  WorkerGroup(ProcessGroup* group, std::vector<std::string> names) : group_(group), names_(std::move(names)) {}

  int rank() const { return group_->rank(); }
  int size() const { return group_->size(); }
  bool is_chief() const { return rank() == 0; }
  ProcessGroup& group() { return *group_; }
  // Of a rank, for messages.
  const std::string& name(int rank) const { return names_[rank]; }

  // Every worker's text, by rank.
  absl::StatusOr<std::vector<std::string>> Gather(absl::string_view mine, absl::string_view what);
  // The chief's text; what others give is not looked at.
  absl::StatusOr<std::string> FromChief(absl::string_view text, absl::string_view what);
  // All must give the same. InvalidArgument (exit code 2), on all workers, names the first that differs from the chief,
  // both values, and `remedy`.
  absl::Status Agree(absl::string_view what, absl::string_view value, absl::string_view remedy);

  // Whether a worker wants the loop to end after the step before.
  enum class Wish : uint8_t { kGoOn = 0, kStop, kSignal };
  struct Meeting {
    Wish wish = Wish::kGoOn;  // the strongest
    int from = 0;             // the first rank that has it
  };
  // Between two steps of a loop: what all of them wish. A worker that is not the chief joins here what the chief does
  // in between (Announce), by `on_evaluate`. `scalars` tells what the step's scalars are set to, which the
  // evaluation may change: InvalidArgument (exit code 2), on all workers, where that is not the same.
  absl::StatusOr<Meeting> Meet(Wish mine, const std::function<uint64_t()>& scalars = nullptr);

  // The chief, inside of a training: the others evaluate with it, that of the job's evaluations with this number.
  absl::Status AnnounceEvaluation(uint64_t which = 0);
  // All workers, between two steps of a loop of the user's own: they evaluate next. FailedPrecondition (exit code 2),
  // on all of them, where one does something else.
  absl::Status MeetForEvaluation();
  // As AnnounceEvaluation, for a checkpoint that needs something of each worker.
  absl::Status AnnounceSave();
  // The end of a training: of the chief's hooks, which may have evaluated. The others wait here, and join evaluations.
  absl::Status MeetAtEnd();

  // What a worker does for an evaluation of the chief's, given the number that is announced.
  using OnEvaluate = std::function<absl::Status(uint64_t which)>;
  void set_on_evaluate(OnEvaluate on_evaluate) { on_evaluate_ = std::move(on_evaluate); }
  // And for a checkpoint of the chief's that it announces.
  void set_on_save(std::function<absl::Status()> on_save) { on_save_ = std::move(on_save); }
  // Whether it does so now.
  bool evaluating_with_chief() const { return joined_; }

 private:
  enum class Event : uint8_t { kStep = 0, kEvaluate, kEvaluateTogether, kSave, kEnd };
  struct Message {
    uint64_t detail;  // of kStep what the step's scalars are set to, of kEvaluate the number of the evaluation
    Event event;
    Wish wish;
  };
  // What the chief does, and the wishes of all.
  absl::StatusOr<std::pair<Message, Meeting>> Exchange(Message mine);
  // Does what the chief has announced.
  absl::Status Join(const Message& chiefs);
  absl::Status JoinEvaluation(uint64_t which);

  ProcessGroup* const group_;
  const std::vector<std::string> names_;
  OnEvaluate on_evaluate_;
  std::function<absl::Status()> on_save_;
  bool joined_ = false;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_WORKERS_WORKER_GROUP_H_
