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

// A worker sends its input position with only some of its updates. So the last position received may belong to an
// earlier update, and this class also counts the updates since then.
class InputProgress {
 public:
  // Ranks are 0 to `workers` - 1; all calls must use such ranks.
  explicit InputProgress(int64_t workers) : workers_(workers) {}

  // Sets the positions that belong to the values which the chief gives the server.
  void Assign(const google::protobuf::RepeatedPtrField<parameters::Progress>& workers);
  void Greet(const parameters::Hello& hello);
  void Update(int64_t rank, const parameters::Exchange& exchange);
  void Leave(int64_t rank, const parameters::Leave& leave);

  // True if the position after the worker's last update is known, and the worker has announced that it sends one with
  // its next update too. Also true for a worker of which nothing is known.
  bool Exact(int64_t rank) const;
  // `until` has a number of updates for each of some workers. True if update number `update` of worker `rank` is among
  // them.
  static bool Asked(const google::protobuf::RepeatedPtrField<parameters::Progress>& until, int64_t rank,
                    int64_t update);
  // True if the worker that `until` names has made as many updates as `until` says, if another process has taken its
  // place, or if nothing is known of it.
  bool Reached(const parameters::Progress& until) const;
  // Returns what is known of all workers, sorted by rank; without their positions if `positions` is false.
  google::protobuf::RepeatedPtrField<parameters::Progress> All(bool positions) const;

  // Notes that the input of worker `rank` had ended at the position where its training began. If the inputs of all
  // workers had ended so, returns whether they start again, and gives all workers the same answer until each makes a
  // step. If another worker has made a step, returns false. Returns nothing as long as neither is known. `may_come`
  // returns true if a worker that has not asked may still do so.
  std::optional<bool> AtEnd(int64_t rank, const std::function<bool(int64_t rank)>& may_come);
  // If set to true, inputs that had ended at the start of a training do not start again.
  void set_keep_ends(bool keep) { keep_ends_ = keep; }

 private:
  struct Worker {
    parameters::Progress progress;
    bool next_too = false;  // the worker has announced a position for its next update
    // The following is about the worker's training number `training`.
    int64_t training = 0;
    bool stepped = false;     // the worker has made an update
    bool at_end = false;      // its input had ended at the start of the training, or it has left the training
    bool all_at_end = false;  // the worker was told that the inputs of all workers had ended
  };

  Worker& Of(int64_t rank);

  const int64_t workers_;
  bool keep_ends_ = false;
  std::map<int64_t, Worker> known_;  // by rank
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_PARAMETER_SERVER_INPUT_PROGRESS_H_
