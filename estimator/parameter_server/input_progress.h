// InputProgress: how far the workers are in their inputs, as a parameter server knows it.
#ifndef TANDEM_ESTIMATOR_PARAMETER_SERVER_INPUT_PROGRESS_H_
#define TANDEM_ESTIMATOR_PARAMETER_SERVER_INPUT_PROGRESS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "estimator/parameter_server/messages.pb.h"

namespace tandem {

// A worker sends its position with some of its updates. The position that is known of it is the one of its last update,
// or of one before, by a number of updates that is counted.
class InputProgress {
 public:
  // Ranks are 0 to `workers` - 1; those of all calls are among them.
  explicit InputProgress(int64_t workers) : workers_(workers) {}

  // The positions that belong to values which the server is given.
  void Assign(const google::protobuf::RepeatedPtrField<parameters::Progress>& workers);
  void Greet(const parameters::Hello& hello);
  void Update(int64_t rank, const parameters::Exchange& exchange);
  void Leave(int64_t rank, const parameters::Leave& leave);

  // Whether the position is known after the last update of a rank, and will be after the next one.
  bool Exact(int64_t rank) const;
  // Whether an update is among those that `until` asks for.
  static bool Asked(const google::protobuf::RepeatedPtrField<parameters::Progress>& until, int64_t rank,
                    int64_t update);
  // Whether a rank's updates are as many as `until` says; also where another process has taken its place.
  bool Reached(const parameters::Progress& until) const;
  // Of all ranks that are known, in their order.
  google::protobuf::RepeatedPtrField<parameters::Progress> All(bool positions) const;

  // A rank has found its input at the end where it began. Whether that is so of all ranks and inputs start again, which
  // all are then told once; nothing while it is not known. `may_come`: whether a rank that is needed may still come.
  std::optional<bool> AtEnd(int64_t rank, const std::function<bool(int64_t rank)>& may_come);
  // Whether inputs do not start again.
  void set_keep_ends(bool keep) { keep_ends_ = keep; }

 private:
  struct Worker {
    parameters::Progress progress;
    bool next_too = false;  // its next update has a position
    // Of its training of that number:
    int64_t training = 0;
    bool stepped = false;     // it has made an update
    bool at_end = false;      // its input had nothing left, or it has left
    bool all_at_end = false;  // and so had all, which it is told
  };

  Worker& Of(int64_t rank);

  const int64_t workers_;
  bool keep_ends_ = false;
  std::map<int64_t, Worker> known_;  // by rank
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_PARAMETER_SERVER_INPUT_PROGRESS_H_
