// ServedVariables: the variables of a model that parameter servers keep, as one worker sees them.
#ifndef TANDEM_ESTIMATOR_PARAMETER_SERVER_SERVED_VARIABLES_H_
#define TANDEM_ESTIMATOR_PARAMETER_SERVER_SERVED_VARIABLES_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/host_tensor.h"
#include "cluster/credentials.h"
#include "cluster/tls_files.h"
#include "graph/parameter_servers.h"
#include "runtime/executable.h"
#include "runtime/scalar_value.h"
#include "runtime/variable_store.h"

namespace tandem {

// Of messages.proto, whose generated header is for who reads or writes messages.
namespace parameters {
class Exchange;
class Progress;
class Reply;
class Request;
}  // namespace parameters
class FrameReader;

// Not thread-safe, but for values that several threads read in the store. Errors of all calls: Unavailable (exit code
// 75) names a server that is lost and has not come back in time; what a server refuses, such as another model.
class ServedVariables {
 public:
  struct Options {
    std::vector<std::string> addresses;          // HOST:PORT of each server
    int64_t rank = 0;                            // of this worker; 0 is the chief
    std::string who;                             // "worker 1 at host, pid 123"
    std::map<std::string, std::string> facts;    // that must be the servers'
    double start_deadline_seconds = 300;         // until a server is there, and until the chief has given it values
    double deadline_seconds = 30;                // of an answer, and until a lost server is there again
    std::optional<TlsFiles> tls = std::nullopt;  // of connections to servers; read by Begin
    // Whether waiting for servers, for first values or for other workers is to end: then the call is Cancelled. May be
    // null.
    std::function<bool()> interrupted;
  };
  explicit ServedVariables(Options options);
  // Before Begin.
  void set_facts(std::map<std::string, std::string> facts) { options_.facts = std::move(facts); }
  // Before Begin: tells where this worker is in its input, behind the last batch that it has drawn. Server 0 is told as
  // often as costs little, and with every update when the chief asks. Null: nobody is told.
  using Position = std::function<absl::StatusOr<std::string>()>;
  void set_position(Position position) { position_ = std::move(position); }
  ~ServedVariables();

  // Where a worker is in its input, in the values that this one has read.
  struct WorkerPosition {
    std::string position;  // empty: not known, or at the beginning
    int64_t behind = 0;    // updates that the values hold and that came after it
  };
  using Positions = std::map<int64_t, WorkerPosition>;  // by rank

  // Connects, for training number `training`, from 1 on. `program` is the worker's part of the step, which says where
  // all variables of the model are; `store` has copies of them. The chief's are the first values, at `step` and with
  // `positions` of all workers, where the servers have none yet; otherwise the store gets the servers' values: all of
  // them on the chief, those that the program reads on others.
  absl::Status Begin(const Executable& program, std::shared_ptr<VariableStore> store, int64_t step,
                     int64_t training = 1, Positions positions = {});

  // Updates that server 0 has made, when it was last asked.
  int64_t step() const { return step_; }
  // As of the values that were read last; after Begin of the chief, those that it gave, if it has given the values.
  const Positions& positions() const { return positions_; }
  // Whether server 0 had values at Begin.
  bool had_values() const { return had_values_; }
  // Bytes of tensors that steps have sent and got.
  struct Traffic {
    uint64_t sent = 0, received = 0;
  };
  const Traffic& traffic() const { return traffic_; }
  // Whether the chief has asked all to end their training, and why.
  enum class Wish { kGoOn, kStop, kSignal };
  Wish wish() const { return wish_; }
  // The outputs of `program` that go to servers.
  std::vector<std::string> sent() const;

  // Sends what a step has computed and gets the new values. Where servers bound the staleness and this worker is ahead,
  // it waits here for the others, however long that takes; when it is interrupted the step is made all the same,
  // without new values. A server that is lost is waited for; the step may then have been lost for it, and it has values
  // of before.
  absl::Status Exchange(const std::map<std::string, HostTensor>& values, const StepScalars& scalars);
  // The chief's copies of all variables become the servers' values, and positions() those that belong to them: of each
  // worker's updates all servers have as many, unless one was lost in the middle of it.
  absl::Status ReadAll();
  // Where this worker's input has nothing left at the position where its training began: whether that is so of all
  // workers, so that all start again. Waits until it is known. `keep`: the chief's answer is that none does.
  absl::StatusOr<bool> AllAtEnd(bool keep);
  // This worker makes no steps any more in its training of that number, from 1 on.
  absl::Status Leave(int64_t training);
  // The chief's: all workers end their training, for `wish`.
  absl::Status Stop(Wish wish);
  // The chief's: waits until no other worker makes steps any more in that training. Those that are not there are waited
  // for until the deadline, unless `here_only`, or where they have been there and all are to stop. With `here_only`
  // nothing interrupts it.
  absl::Status WaitForOthers(int64_t training, bool here_only = false);
  // The chief's: the servers end, since the job is done or has failed with `status`, which they tell the others. Does
  // not wait long.
  void End(const absl::Status& status);

 private:
  struct Server;

  absl::Status Connect(Server& server, double seconds);
  // The same with values, of one side or the other. These have the start's deadline: the chief gives them when it comes
  // to it, and all of them may take longer than an answer. `giving_ends`: whether the chief's giving is to end.
  absl::Status Meet(Server& server, double seconds, const std::function<bool()>& giving_ends);
  absl::Status GiveValues(Server& server, const std::function<bool()>& interrupted);
  absl::Status TakeValues(Server& server, const std::vector<PlacedPart>& parts);
  void Note(const Server& server, const parameters::Reply& reply);
  void NotePositions(const parameters::Reply& reply);
  // Adds the position to an update for server 0, if it is time, and this worker's number of it.
  absl::Status AddPosition(parameters::Exchange* exchange);
  // The answer to an update that was sent. One without values is asked for them again.
  absl::StatusOr<parameters::Reply> EndUpdate(Server& server, FrameReader* tensors);
  using Cut = std::map<int64_t, parameters::Progress>;  // the most updates of each rank that a server has made
  absl::Status Hold(Server& server, Cut* cut);
  absl::StatusOr<parameters::Reply> AskOnce(Server& server, const parameters::Request& request);
  // The same; one that is lost is asked again once it is back.
  absl::StatusOr<parameters::Reply> Ask(Server& server, const parameters::Request& request);
  // `status` of `server`: one that is lost is waited for and met again.
  absl::Status Recovered(Server& server, const absl::Status& status);
  // Whether others that are not there have had the deadline to come, from `begin` on and since a server was lost.
  bool HaveHadTime(std::chrono::steady_clock::time_point begin) const;

  Options options_;
  Credentials credentials_;
  std::vector<Server> servers_;
  std::shared_ptr<VariableStore> store_;
  Traffic traffic_;
  int64_t step_ = 0;
  Wish wish_ = Wish::kGoOn;
  std::unique_ptr<parameters::Request> stop_;       // the chief's last of this training, which a new server must hear
  std::chrono::steady_clock::time_point last_met_;  // when a lost server was back

  Position position_;
  Positions positions_;
  bool had_values_ = false;
  int64_t updates_ = 0;     // that this worker has sent
  const uint64_t process_;  // a number of this process
  bool wanted_ = false;     // positions are, with every update
  bool promised_ = false;   // the next update has one
  std::chrono::steady_clock::time_point next_position_;
  double position_cost_ = 0;  // seconds
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_PARAMETER_SERVER_SERVED_VARIABLES_H_
