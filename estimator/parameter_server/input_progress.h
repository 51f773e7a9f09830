// InputProgress: the input positions of the workers, as far as a parameter server knows them.
#ifndef TANDEM_ESTIMATOR_PARAMETER_SERVER_INPUT_PROGRESS_H_
#define TANDEM_ESTIMATOR_PARAMETER_SERVER_INPUT_PROGRESS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "estimator/parameter_server/messages.pb.h"

namespace tandem {

// A worker sends its position with some of its updates. So the known position is that after its last update, or after
// an earlier one; then the updates since are counted.
class InputProgress {
 public:
  // Ranks are 0 to `workers` - 1; all calls must use such ranks.
  explicit InputProgress(int64_t workers) : workers_(workers) {}

  // Sets the positions that belong to the values that the server is given.
  void Assign(const google::protobuf::RepeatedPtrField<parameters::Progress>& workers);
  void Greet(const parameters::Hello& hello);
  void Update(int64_t rank, const parameters::Exchange& exchange);
  void Leave(int64_t rank, const parameters::Leave& leave);

  // True if the position after the last update of a rank is known, and that after its next one will be known too.
  bool Exact(int64_t rank) const;
  // True if an update is among those that `until` asks for.
  static bool Asked(const google::protobuf::RepeatedPtrField<parameters::Progress>& until, int64_t rank,
                    int64_t update);
  // True if a rank has made the updates that `until` asks for, or if another process has taken its place.
  bool Reached(const parameters::Progress& until) const;
  // Returns the progress of all known ranks, in their order.
  google::protobuf::RepeatedPtrField<parameters::Progress> All(bool positions) const;

  // Notes that a rank's input had nothing left where its training began. Returns true if this is so for all ranks and
  // the inputs start again (all ranks are then told so, until each makes a step), false if they do not, and nothing
  // while this is not known. `may_come` returns true if a rank that has not answered may still come.
  std::optional<bool> AtEnd(int64_t rank, const std::function<bool(int64_t rank)>& may_come);
  // With true, inputs do not start again at their end.
  void set_keep_ends(bool keep) { keep_ends_ = keep; }

 private:
  struct Worker {
    parameters::Progress progress;
    bool next_too = false;  // its next update will have a position
    // State of its training number `training`:
    int64_t training = 0;
    bool stepped = false;     // it has made an update
    bool at_end = false;      // its input had nothing left, or it has left
    bool all_at_end = false;  // the inputs of all workers had nothing left, which this one is told
  };

  Worker& Of(int64_t rank);

  const int64_t workers_;
  bool keep_ends_ = false;
  std::map<int64_t, Worker> known_;  // by rank
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_PARAMETER_SERVER_INPUT_PROGRESS_H_
