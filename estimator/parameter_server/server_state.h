// ServerState: the variables of a parameter server and the handling of requests, without the network.
#ifndef TANDEM_ESTIMATOR_PARAMETER_SERVER_SERVER_STATE_H_
#define TANDEM_ESTIMATOR_PARAMETER_SERVER_SERVER_STATE_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/parameter_server/frame.h"
#include "estimator/parameter_server/input_progress.h"
#include "estimator/parameter_server/messages.pb.h"
#include "estimator/parameter_server/rows.h"
#include "runtime/session/session.h"
#include "runtime/variables/variable_store.h"

namespace tandem {

struct ServerOptions {
  int index = 0;                        // index of this server
  std::string who;                      // name of this server: "ps 0 at host, pid 123"
  int64_t workers = 1;                  // number of workers of the job
  std::vector<VariableInfo> variables;  // variables placed on this server
  StepScalars scalar_defaults;          // defaults of step scalars that workers do not send
  // Facts, by name, that workers must have with the same values.
  std::map<std::string, std::string> facts;
  // How many updates other workers may make between a worker's reading of variables and its own update. Workers that
  // would make more wait. If not set, there is no bound.
  std::optional<int64_t> max_staleness;
};

// Handles the requests of connections, which arrive on several threads. Each request is answered once, by calling the
// connection's function: at once, or when what the request waits for has happened. That function must not call this
// object.
class ServerState {
 public:
  using Clock = std::chrono::steady_clock;
  using Answer = std::function<void(grpc::ByteBuffer)>;

  // `program` is this server's part of the step (td-partition-step); its variables are `variables` and the values that
  // workers send. Null if there is nothing to update.
  static absl::StatusOr<std::unique_ptr<ServerState>> Create(ServerOptions options,
                                                             std::shared_ptr<const Executable> program,
                                                             std::shared_ptr<ThreadPool> pool);

  int64_t Connect(Answer answer);
  void Handle(int64_t connection, const grpc::ByteBuffer& frame);
  void Disconnect(int64_t connection);

  // Waits until the chief has said that the job is done or has failed, but at most `at_most`; returns whether it has.
  // Also answers requests that have waited as long as they may.
  bool WaitForEnd(Clock::duration at_most);
  // Returns why the job has failed, which is told to workers that ask; "" if it has not failed.
  std::string failure() const;
  // The size of all variables and of the values that workers send.
  uint64_t MemoryBytes() const { return store_->MemoryBytes(); }
  // Returns for how long no worker has been connected; zero if one is connected.
  Clock::duration alone() const;

 private:
  struct Connection {
    Answer answer;
    int64_t rank = -1;        // -1 until the worker has sent Hello
    int64_t in_training = 0;  // number of the training that the worker is in
    std::string who;
    std::vector<std::string> updated;  // variables that the worker reads and steps change
    int64_t read_step = 0;             // step of the values that the worker got last
    int64_t updated_step = -1;         // step at which the worker last got all of `updated`; -1 if never
    bool training = false;             // true: the worker makes steps
    bool ahead = false;                // the worker's last answer had no values, because it has made too many steps
    bool will_read = false;            // the worker will get values before it computes its next gradient
    std::string replaced_by;           // name of the worker that has replaced this one; empty if none has
  };
  // A value that workers send with each update, such as a gradient.
  struct Sent {
    VariableInfo info;
    RowLayout layout;
    ByteRange memory;
    // The rows that are not zero, if the last value was sent by rows.
    std::optional<RowNumbers> rows;
  };
  struct Waiting {
    int64_t connection;
    std::function<bool()> ready;
    std::function<void(Connection&)> answer;
  };

  // A cut: the chief reads all servers after the same updates of each worker. It lasts from the chief's request Hold to
  // its request Read.
  struct Cut {
    int64_t connection;
    bool wants_positions;
    bool holds = false;  // true: updates are held back, until `end` at most
    Clock::time_point end;
    google::protobuf::RepeatedPtrField<parameters::Progress> until;  // updates that are made in spite of `holds`
  };
  // An update that is held back during a cut.
  struct Held {
    int64_t connection;
    int64_t update;  // number of the worker's update
    grpc::ByteBuffer frame;
  };

  ServerState(ServerOptions options, std::shared_ptr<VariableStore> store);

  void HandleNow(int64_t id, Connection& connection, const parameters::Request& request, absl::Status status,
                 FrameReader& tensors);
  absl::Status Do(int64_t id, Connection& connection, const parameters::Request& request, FrameReader& tensors);
  absl::Status Greet(Connection& connection, int64_t id, const parameters::Hello& hello);
  absl::Status Assign(Connection& connection, const parameters::Assign& assign, FrameReader& tensors);
  absl::Status Update(int64_t id, Connection& connection, const parameters::Exchange& exchange, FrameReader& tensors);
  // Answers an update that was made: with new values as soon as the worker may go on, or without values after
  // `seconds`.
  void AnswerUpdate(int64_t id, double seconds, bool finite);
  // Copies the values that a worker has sent to the memory that the program reads. InvalidArgument if the bytes are not
  // what `exchange` says.
  absl::Status Receive(const Connection& connection, const parameters::Exchange& exchange, FrameReader& tensors);
  // Starts to record at which step each row changes, for those variables read by workers that have the shape of `sent`.
  void WatchRows(const Connection& connection, const VariableInfo& sent);
  absl::Status Hold(int64_t id, const parameters::Hold& hold);
  absl::Status Read(int64_t id, const parameters::Read& read);
  absl::Status AtEnd(Connection& connection, const parameters::AtEnd& at_end);
  absl::Status CheckChief(const Connection& connection) const;

  parameters::Reply NewReply(const Connection& connection) const;
  void AnswerWith(Connection& connection, const parameters::Reply& reply, const std::vector<std::string>& variables);
  // Answers with the values that have changed since the worker got them last, of the variables that it reads.
  void AnswerWithUpdated(Connection& connection, parameters::Reply reply);
  void AnswerOk(Connection& connection) { AnswerWith(connection, NewReply(connection), {}); }
  ByteRange Bytes(const std::string& variable) const;
  // Returns how many updates were made since the worker that is furthest behind got its values. The worker of
  // `connection` is not considered.
  int64_t StalenessOfOthers(int64_t connection) const;
  // True if the chief has asked the workers in training number `training` to stop. A normal stop is for the chief's
  // training and earlier ones; a stop because of a signal is for all.
  bool IsStopped(int64_t training) const;
  bool OthersHaveLeft(const parameters::OthersLeft& asked) const;
  bool IsHere(int64_t rank) const;
  bool IsHeld(int64_t connection, int64_t update) const;
  // True if the input position after its last update is known of each worker that makes steps.
  bool PositionsAreKnown() const;
  // Makes the updates that need no longer be held back; returns whether there were any.
  bool UpdateHeld();
  // Answers the waiting requests that can be answered now; returns whether there were any.
  bool AnswerReady();
  // Calls UpdateHeld and AnswerReady until neither does anything.
  void Advance();

  const ServerOptions options_;
  const std::shared_ptr<VariableStore> store_;
  std::unique_ptr<Session> session_;  // null if this server updates nothing
  std::vector<Sent> sent_;            // values that workers send, by their numbers in the program
  std::vector<std::string> updated_;  // variables that steps change
  // By name, for variables with the shape of a value that was sent by rows.
  std::map<std::string, RowVersions> row_versions_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool has_values_ = false, ended_ = false;
  std::string failure_;  // why the job has failed
  std::optional<parameters::Stop> stop_;
  int64_t stopped_training_ = 0;  // the training of the chief that stop_ ends
  int64_t step_ = 0;
  InputProgress progress_;
  std::optional<Cut> cut_;
  std::list<Held> held_;
  int64_t next_connection_ = 1;
  std::map<int64_t, Connection> connections_;
  std::list<Waiting> waiting_;
  std::map<int64_t, int64_t> left_;      // the last training that each rank has left
  std::map<int64_t, std::string> came_;  // ranks that have connected, with their names
  Clock::time_point last_seen_ = Clock::now();
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_PARAMETER_SERVER_SERVER_STATE_H_
