// ServerState: the variables of a parameter server and what it does with them, without the network.
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
#include "runtime/session.h"
#include "runtime/variable_store.h"

namespace tandem {

struct ServerOptions {
  int index = 0;                        // of this server
  std::string who;                      // "ps 0 at host, pid 123"
  int64_t workers = 1;                  // that there are in all
  std::vector<VariableInfo> variables;  // that are placed here
  StepScalars scalar_defaults;          // of step scalars that workers do not send
  // What must be the same on workers, by name.
  std::map<std::string, std::string> facts;
  // Updates that others may make between a worker's reading of variables and its own update; then they wait for it.
  // Without a value there is no bound.
  std::optional<int64_t> max_staleness;
};

// Requests of connections, which come from several threads. Each is answered once by the connection's function, at once
// or when what it waits for has come; the function must not call the state.
class ServerState {
 public:
  using Clock = std::chrono::steady_clock;
  using Answer = std::function<void(grpc::ByteBuffer)>;

  // `program`: this server's part of the step (td-partition-step), whose variables are `variables` and what workers
  // send; null where there is nothing to update.
  static absl::StatusOr<std::unique_ptr<ServerState>> Create(ServerOptions options,
                                                             std::shared_ptr<const Executable> program,
                                                             std::shared_ptr<ThreadPool> pool);

  int64_t Connect(Answer answer);
  void Handle(int64_t connection, const grpc::ByteBuffer& frame);
  void Disconnect(int64_t connection);

  // Waits until the chief has said that the job is done or has failed, for a while at most. Answers what waited for
  // time.
  bool WaitForEnd(Clock::duration at_most);
  // Why the job has failed; empty where it has not. Other workers that ask are told so.
  std::string failure() const;
  // Of all variables, and of what workers send.
  uint64_t MemoryBytes() const { return store_->MemoryBytes(); }
  // How long no worker has been connected.
  Clock::duration alone() const;

 private:
  struct Connection {
    Answer answer;
    int64_t rank = -1;        // before Hello
    int64_t in_training = 0;  // its number
    std::string who;
    std::vector<std::string> updated;  // that the worker reads and steps change
    int64_t read_step = 0;             // when it last got values
    int64_t updated_step = -1;         // when it last got values of `updated`, and has all of them; -1: never
    bool training = false;             // it makes steps
    bool ahead = false;                // its last answer had no values, because it is too far ahead
    std::string replaced_by;           // who has its place now
  };
  // A value that workers send.
  struct Sent {
    VariableInfo info;
    RowLayout layout;
    ByteRange memory;
    // Rows that are not zero, where the last one came by rows.
    std::optional<RowNumbers> rows;
  };
  struct Waiting {
    int64_t connection;
    std::function<bool()> ready;
    std::function<void(Connection&)> answer;
  };

  // The chief's, from Hold to Read.
  struct Cut {
    int64_t connection;
    bool wants_positions;
    bool holds = false;  // updates, until then:
    Clock::time_point end;
    google::protobuf::RepeatedPtrField<parameters::Progress> until;  // updates that are made all the same
  };
  // An update that is not made yet.
  struct Held {
    int64_t connection;
    int64_t update;  // its number
    grpc::ByteBuffer frame;
  };

  ServerState(ServerOptions options, std::shared_ptr<VariableStore> store);

  void HandleNow(int64_t id, Connection& connection, const parameters::Request& request, absl::Status status,
                 FrameReader& tensors);
  absl::Status Do(int64_t id, Connection& connection, const parameters::Request& request, FrameReader& tensors);
  absl::Status Greet(Connection& connection, int64_t id, const parameters::Hello& hello);
  absl::Status Assign(Connection& connection, const parameters::Assign& assign, FrameReader& tensors);
  absl::Status Update(int64_t id, Connection& connection, const parameters::Exchange& exchange, FrameReader& tensors);
  // Answers an update that was made, when the worker may go on with new values, or after so many seconds without them.
  void AnswerUpdate(int64_t id, double seconds, bool finite);
  // Puts what a worker has sent to where the program reads it. InvalidArgument for bytes that are not as `exchange`
  // says.
  absl::Status Receive(const Connection& connection, const parameters::Exchange& exchange, FrameReader& tensors);
  // From now on, in which step each row of the variables of that shape that workers read changes.
  void WatchRows(const Connection& connection, const VariableInfo& sent);
  absl::Status Hold(int64_t id, const parameters::Hold& hold);
  absl::Status Read(int64_t id, const parameters::Read& read);
  absl::Status AtEnd(Connection& connection, const parameters::AtEnd& at_end);
  absl::Status CheckChief(const Connection& connection) const;

  parameters::Reply NewReply(const Connection& connection) const;
  void AnswerWith(Connection& connection, const parameters::Reply& reply, const std::vector<std::string>& variables);
  // With what has changed of the variables that the connection's worker reads.
  void AnswerWithUpdated(Connection& connection, parameters::Reply reply);
  void AnswerOk(Connection& connection) { AnswerWith(connection, NewReply(connection), {}); }
  ByteRange Bytes(const std::string& variable) const;
  // Updates since the worker that is furthest behind got its values, `connection` left out.
  int64_t StalenessOfOthers(int64_t connection) const;
  // Whether the chief has asked those to stop that are in that training: the chief's own, or an earlier one of theirs.
  // A signal ends all.
  bool IsStopped(int64_t training) const;
  bool OthersHaveLeft(const parameters::OthersLeft& asked) const;
  bool IsHere(int64_t rank) const;
  bool IsHeld(int64_t connection, int64_t update) const;
  // Whether the position is known behind the last update of each worker that makes steps.
  bool PositionsAreKnown() const;
  // Makes the updates that are not held any longer; whether there were any.
  bool UpdateHeld();
  // Answers what need not wait any longer; whether there was any.
  bool AnswerReady();
  // Both, as long as there is anything.
  void Advance();

  const ServerOptions options_;
  const std::shared_ptr<VariableStore> store_;
  std::unique_ptr<Session> session_;                 // null where nothing is updated
  std::vector<Sent> sent_;                           // by workers, in the order of the program's numbers
  std::vector<std::string> updated_;                 // variables
  std::map<std::string, RowVersions> row_versions_;  // of those of the shape of a value that came by rows

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool has_values_ = false, ended_ = false;
  std::string failure_;  // of the job
  std::optional<parameters::Stop> stop_;
  int64_t stopped_training_ = 0;  // the chief's, which stop_ ends
  int64_t step_ = 0;
  InputProgress progress_;
  std::optional<Cut> cut_;
  std::list<Held> held_;
  int64_t next_connection_ = 1;
  std::map<int64_t, Connection> connections_;
  std::list<Waiting> waiting_;
  std::map<int64_t, int64_t> left_;      // the last training that each rank has left
  std::map<int64_t, std::string> came_;  // ranks that have been here
  Clock::time_point last_seen_ = Clock::now();
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_PARAMETER_SERVER_SERVER_STATE_H_
