// ServedVariables: a worker's access to the variables that parameter servers keep.
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
#include "runtime/executable/executable.h"
#include "runtime/session/scalar_value.h"
#include "runtime/variables/variable_store.h"

namespace tandem {

// From messages.proto; its generated header is included only by files that read or write messages.
namespace parameters {
class Exchange;
class Progress;
class Reply;
class Request;
}  // namespace parameters
class FrameReader;

// Not thread-safe, except that several threads may read values in the store. Errors of all calls: Unavailable (exit
// code 75) if a server is lost and has not come back in time; and the error with which a server refuses a request, such
// as one of another model.
class ServedVariables {
 public:
  struct Options {
    std::vector<std::string> addresses;  // HOST:PORT of each server
    int64_t rank = 0;                    // rank of this worker; 0 is the chief
    std::string who;                     // name of this worker: "worker 1 at host, pid 123"
    // Facts, by name, that must be the same on the servers.
    std::map<std::string, std::string> facts;
    double start_deadline_seconds = 300;         // to wait for a server to start, and for its first values
    double deadline_seconds = 30;                // to wait for an answer, and for a lost server to return
    std::optional<TlsFiles> tls = std::nullopt;  // files for TLS connections to the servers; read by Begin
    // Returns true to end waiting for servers, for their first values or for other workers; the call then returns
    // Cancelled. May be null.
    std::function<bool()> interrupted;
  };
  explicit ServedVariables(Options options);
  // Sets Options::facts. Call before Begin.
  void set_facts(std::map<std::string, std::string> facts) { options_.facts = std::move(facts); }
  // Call before Begin: `position` returns this worker's input position after the last batch that it has drawn. It is
  // sent to server 0 as often as that costs little, and with every update while the chief asks for it. Null: not sent.
  using Position = std::function<absl::StatusOr<std::string>()>;
  void set_position(Position position) { position_ = std::move(position); }
  // Call before Begin. On the chief, Begin calls `look` before it sends its values to the servers, and so before other
  // workers can make steps with them. If `look` returns true, the training is over before its first step, and the
  // servers tell the other workers so. Null: nothing is called.
  using Look = std::function<absl::StatusOr<bool>()>;
  void set_look(Look look) { look_ = std::move(look); }
  ~ServedVariables();

  // A worker's input position, as of the values that this process has read from the servers.
  struct WorkerPosition {
    std::string position;  // position in the input; empty: not known, or the input's beginning
    int64_t behind = 0;    // number of the worker's updates that the values contain beyond that position
  };
  using Positions = std::map<int64_t, WorkerPosition>;  // by the workers' ranks

  // Connects to the servers, for training number `training`, from 1 on. `program` is the worker's part of the step,
  // which says where all variables of the model are; `store` has copies of them. If the servers have no values yet, the
  // chief sends them its own, at global step `step` and with the input positions of all workers. Otherwise the store
  // gets the servers' values: all of them on the chief, and those that the program uses on other workers.
  absl::Status Begin(const Executable& program, std::shared_ptr<VariableStore> store, int64_t step,
                     int64_t training = 1, Positions positions = {});

  // The number of updates that server 0 had made at its last answer.
  int64_t step() const { return step_; }
  // The workers' input positions that belong to the values read last. If the chief has sent its own values in Begin,
  // the positions that were passed to Begin.
  const Positions& positions() const { return positions_; }
  // True if server 0 had values at Begin.
  bool had_values() const { return had_values_; }
  // Bytes of tensors that steps have sent and received.
  struct Traffic {
    uint64_t sent = 0, received = 0;
  };
  const Traffic& traffic() const { return traffic_; }
  // What the chief asks all workers to do: go on, or end the training, by a normal stop or because of a signal.
  enum class Wish { kGoOn, kStop, kSignal };
  Wish wish() const { return wish_; }
  // The outputs of the program given to Begin that are sent to servers.
  const std::vector<std::string>& sent() const { return sent_; }

  // Sends `values`, which a step has computed, to the servers and writes the variables' new values to the store. If the
  // servers bound the staleness and this worker is too far ahead, waits for the others, however long that takes; if a
  // signal interrupts the wait, the step counts all the same, but the store gets no new values. If a server is lost,
  // waits for it; that server may then have lost the step and have older values.
  absl::Status Exchange(const std::map<std::string, HostTensor>& values, const StepScalars& scalars);
  // On the chief: sets its copies of all variables to the servers' values, and positions() to the input positions that
  // belong to these values. All servers are read after the same number of updates of each worker, unless a server was
  // lost meanwhile.
  absl::Status ReadAll();
  // Call if this worker's input had ended at the position where its training began. Waits until it is known whether the
  // inputs of all workers had. If so, returns true, and all inputs start again. On the chief, `keep` makes the answer
  // false for all.
  absl::StatusOr<bool> AllAtEnd(bool keep);
  // Tells the servers that this worker makes no more steps in training number `training`, counted from 1.
  absl::Status Leave(int64_t training);
  // On the chief: asks all workers to end their training, as `wish` says.
  absl::Status Stop(Wish wish);
  // On the chief: waits until no other worker makes steps in that training any more. Workers that are not connected are
  // waited for until the deadline. They are not waited for with `here_only`, nor if they were lost and all are asked to
  // stop. With `here_only` nothing interrupts the wait.
  absl::Status WaitForOthers(int64_t training, bool here_only = false);
  // On the chief: ends the servers, since the job is done or has failed with `status`, which they tell the other
  // workers. Does not wait long.
  void End(const absl::Status& status);

 private:
  struct Server;

  absl::Status Connect(Server& server, double seconds);
  // Connects to a server. Then the chief sends its values if the server has none; otherwise the values are read from
  // the server. `seconds` is for connecting. Transfers have the start deadline, because the chief sends values only
  // when it is ready, and all values may take longer than an answer. `giving_ends` returns true to interrupt the
  // chief's sending.
  absl::Status Meet(Server& server, double seconds, const std::function<bool()>& giving_ends);
  // Called before the chief sends the first values: look_ decides whether any step is made. If not, asks the server to
  // stop the workers.
  absl::Status LookFirst(Server& server);
  absl::Status GiveValues(Server& server, const std::function<bool()>& interrupted);
  absl::Status TakeValues(Server& server, const std::vector<PlacedPart>& parts);
  void Note(const Server& server, const parameters::Reply& reply);
  void NotePositions(const parameters::Reply& reply);
  // Adds this worker's position in its input to *exchange, an update for server 0, if it is time to report it.
  absl::Status AddPosition(parameters::Exchange* exchange);
  // Waits for the answer to an update. If the answer has no values because this worker is too far ahead of the others,
  // asks for them again.
  absl::StatusOr<parameters::Reply> EndUpdate(Server& server, FrameReader* tensors);
  // By rank, the largest number of that worker's updates that any server has made.
  using Cut = std::map<int64_t, parameters::Progress>;
  absl::Status Hold(Server& server, Cut* cut);
  absl::StatusOr<parameters::Reply> AskOnce(Server& server, const parameters::Request& request);
  // Sends a request and returns the answer. If the server is lost, waits for it and sends the request again.
  absl::StatusOr<parameters::Reply> Ask(Server& server, const parameters::Request& request);
  // If `status` says that `server` is lost, waits for it and calls Meet again; otherwise returns `status`.
  absl::Status Recovered(Server& server, const absl::Status& status);
  // True if the deadline for missing workers has passed, counted from the later of `begin` and the return of a lost
  // server.
  bool HaveHadTime(std::chrono::steady_clock::time_point begin) const;

  Options options_;
  Credentials credentials_;
  std::vector<Server> servers_;
  std::vector<std::string> sent_;
  std::shared_ptr<VariableStore> store_;
  Traffic traffic_;
  int64_t step_ = 0;
  Wish wish_ = Wish::kGoOn;
  // The chief's request to stop this training, which is sent again to a server that comes back.
  std::unique_ptr<parameters::Request> stop_;
  std::chrono::steady_clock::time_point last_met_;  // time at which a lost server came back

  Look look_;
  Position position_;
  Positions positions_;
  bool had_values_ = false;
  int64_t updates_ = 0;     // number of updates that this worker has sent
  const uint64_t process_;  // random number that tells this process from others
  bool wanted_ = false;     // true: the chief asks for positions with every update
  bool promised_ = false;   // true: the last update announced a position in the next one
  std::chrono::steady_clock::time_point next_position_;
  double position_cost_ = 0;  // seconds that sending a position takes
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_PARAMETER_SERVER_SERVED_VARIABLES_H_
