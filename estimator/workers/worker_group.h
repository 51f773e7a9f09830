// WorkerGroup: the communication of an Estimator with the workers that train one model together.
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

// Exchanges messages between the workers, between steps. All workers call the same functions in the same order, except
// that the chief may announce evaluations and saves (see Meet). Errors: those of ProcessGroup, and those named below.
// Not thread-safe.
class WorkerGroup {
 public:
  // `names` has the ranks' names for messages: "worker 2 (host b)". The group must outlive this object.
  WorkerGroup(ProcessGroup* group, std::vector<std::string> names) : group_(group), names_(std::move(names)) {}

  int rank() const { return group_->rank(); }
  int size() const { return group_->size(); }
  bool is_chief() const { return rank() == 0; }
  ProcessGroup& group() { return *group_; }
  // Returns the name of a rank, for messages.
  const std::string& name(int rank) const { return names_[rank]; }

  // Returns every worker's text, by rank.
  absl::StatusOr<std::vector<std::string>> Gather(absl::string_view mine, absl::string_view what);
  // Returns the chief's text; ignores the others' texts.
  absl::StatusOr<std::string> FromChief(absl::string_view text, absl::string_view what);
  // All workers must give the same value. Otherwise returns InvalidArgument (exit code 2), on all workers, with the
  // first worker that differs from the chief, both values, and `remedy`.
  absl::Status Agree(absl::string_view what, absl::string_view value, absl::string_view remedy);

  // What a worker asks for after a step: to go on, or to end the loop, by a normal stop or because of a signal.
  enum class Wish : uint8_t { kGoOn = 0, kStop, kSignal };
  struct Meeting {
    Wish wish = Wish::kGoOn;  // the greatest value that a worker asked for
    int from = 0;             // the lowest rank that asked for `wish`
  };
  // Call between two steps of a loop. Returns what the workers ask for. If the chief announces an evaluation or a save
  // meanwhile, the other workers take part in it during this call, by calling `on_evaluate` or `on_save`. `scalars`
  // returns a fingerprint of the step's scalars, which an evaluation may change: InvalidArgument (exit code 2), on all
  // workers, if it is not the same on all.
  absl::StatusOr<Meeting> Meet(Wish mine, const std::function<uint64_t()>& scalars = nullptr);

  // On the chief, during a training: tells the other workers to evaluate together with it. `which` is the number of the
  // job's evaluation.
  absl::Status AnnounceEvaluation(uint64_t which = 0);
  // Call on all workers before an evaluation between two steps of the user's own loop. FailedPrecondition (exit code
  // 2), on all of them, if a worker makes another call.
  absl::Status MeetForEvaluation();
  // Like AnnounceEvaluation, for a checkpoint that needs the input position of each worker.
  absl::Status AnnounceSave();
  // Call at the end of a training; the chief calls it after the hooks' End, which may evaluate. The other workers wait
  // in this call and take part in such evaluations.
  absl::Status MeetAtEnd();

  // Called on a worker for an evaluation that the chief has announced, with its number.
  using OnEvaluate = std::function<absl::Status(uint64_t which)>;
  void set_on_evaluate(OnEvaluate on_evaluate) { on_evaluate_ = std::move(on_evaluate); }
  // Called on a worker for a checkpoint that the chief has announced.
  void set_on_save(std::function<absl::Status()> on_save) { on_save_ = std::move(on_save); }
  // True while this worker takes part in an evaluation that the chief has announced.
  bool evaluating_with_chief() const { return joined_; }

 private:
  enum class Event : uint8_t { kStep = 0, kEvaluate, kEvaluateTogether, kSave, kEnd };
  struct Message {
    uint64_t detail;  // for kStep the fingerprint of the step's scalars, for kEvaluate the number of the evaluation
    Event event;
    Wish wish;
  };
  // Exchanges `mine` with all workers. Returns the chief's message, and what the workers ask for.
  absl::StatusOr<std::pair<Message, Meeting>> Exchange(Message mine);
  // Takes part in the evaluation or the save that the chief has announced.
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
