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
  std::string who;                      // "ps 0 at host, pid 123"
  int64_t workers = 1;                  // number of workers in all
  std::vector<VariableInfo> variables;  // those placed on this server
  StepScalars scalar_defaults;          // for step scalars that workers do not send
  // Facts that must be the same on workers, by name.
  std::map<std::string, std::string> facts;
  // How many updates others may make between a worker's reading of variables and its own update; then they wait for it.
  // If not set there is no bound.
  std::optional<int64_t> max_staleness;
};

// Handles the requests of connections, which come from several threads. Each request is answered once, by calling the
// connection's function, at once or when what it waits for has happened; the function must not call the state.
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

  // Waits, at most `at_most`, until the chief has said that the job is done or has failed; returns whether it has. Also
  // answers requests whose time is over.
  bool WaitForEnd(Clock::duration at_most);
  // Returns why the job has failed, which is told to workers that ask; "" if it has not failed.
  std::string failure() const;
  // The size of all variables and of the values that workers send.
  uint64_t MemoryBytes() const { return store_->MemoryBytes(); }
  // Returns how long no worker has been connected; zero while one is.
  Clock::duration alone() const;

 private:
  struct Connection {
    Answer answer;
    int64_t rank = -1;        // -1: before Hello
    int64_t in_training = 0;  // number of its training
    std::string who;
    std::vector<std::string> updated;  // variables that the worker reads and steps change
    int64_t read_step = 0;             // step at which it last got values
    int64_t updated_step = -1;         // step at which it last got all of `updated`; -1: never
    bool training = false;             // it makes steps
    bool ahead = false;                // its last answer had no values, because it is too far ahead
    bool will_read = false;            // it gets values before it computes its next gradient
    std::string replaced_by;           // the worker that has its place now
  };
  // A value that workers send.
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

  // The chief's read of all servers at the same number of updates, from its Hold request to its Read request.
  struct Cut {
    int64_t connection;
    bool wants_positions;
    bool holds = false;  // holds back updates, until `end`:
    Clock::time_point end;
    google::protobuf::RepeatedPtrField<parameters::Progress> until;  // updates that are still made
  };
  // An update that is held back.
  struct Held {
    int64_t connection;
    int64_t update;  // the update's number
    grpc::ByteBuffer frame;
  };

  ServerState(ServerOptions options, std::shared_ptr<VariableStore> store);

  void HandleNow(int64_t id, Connection& connection, const parameters::Request& request, absl::Status status,
                 FrameReader& tensors);
  absl::Status Do(int64_t id, Connection& connection, const parameters::Request& request, FrameReader& tensors);
  absl::Status Greet(Connection& connection, int64_t id, const parameters::Hello& hello);
  absl::Status Assign(Connection& connection, const parameters::Assign& assign, FrameReader& tensors);
  absl::Status Update(int64_t id, Connection& connection, const parameters::Exchange& exchange, FrameReader& tensors);
  // Answers an update that was made: with new values when the worker may go on, or after so many seconds without them.
  void AnswerUpdate(int64_t id, double seconds, bool finite);
  // Copies what a worker has sent to where the program reads it. InvalidArgument if the bytes are not what `exchange`
  // says.
  absl::Status Receive(const Connection& connection, const parameters::Exchange& exchange, FrameReader& tensors);
  // From now on records in which step each row changes, for the variables with the shape of `sent` that workers read.
  void WatchRows(const Connection& connection, const VariableInfo& sent);
  absl::Status Hold(int64_t id, const parameters::Hold& hold);
  absl::Status Read(int64_t id, const parameters::Read& read);
  absl::Status AtEnd(Connection& connection, const parameters::AtEnd& at_end);
  absl::Status CheckChief(const Connection& connection) const;

  parameters::Reply NewReply(const Connection& connection) const;
  void AnswerWith(Connection& connection, const parameters::Reply& reply, const std::vector<std::string>& variables);
  // Answers with what has changed of the variables that the connection's worker reads.
  void AnswerWithUpdated(Connection& connection, parameters::Reply reply);
  void AnswerOk(Connection& connection) { AnswerWith(connection, NewReply(connection), {}); }
  ByteRange Bytes(const std::string& variable) const;
  // Returns the number of updates since the worker that is furthest behind got its values; `connection` does not count.
  int64_t StalenessOfOthers(int64_t connection) const;
  // True if the chief has asked workers in that training to stop. It asks for its own training, and so for earlier ones
  // too; a signal ends all.
  bool IsStopped(int64_t training) const;
  bool OthersHaveLeft(const parameters::OthersLeft& asked) const;
  bool IsHere(int64_t rank) const;
  bool IsHeld(int64_t connection, int64_t update) const;
  // True if the position after the last update is known for each worker that makes steps.
  bool PositionsAreKnown() const;
  // Makes the updates that are no longer held back; returns whether there were any.
  bool UpdateHeld();
  // Answers the requests that are ready; returns whether there were any.
  bool AnswerReady();
  // Repeats both until there is nothing left to do.
  void Advance();

  const ServerOptions options_;
  const std::shared_ptr<VariableStore> store_;
  std::unique_ptr<Session> session_;                 // null if nothing is updated
  std::vector<Sent> sent_;                           // by workers, in the order of the program's numbers
  std::vector<std::string> updated_;                 // variables that steps change
  std::map<std::string, RowVersions> row_versions_;  // for variables with the shape of a value that came by rows

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool has_values_ = false, ended_ = false;
  std::string failure_;  // why the job has failed
  std::optional<parameters::Stop> stop_;
  int64_t stopped_training_ = 0;  // the chief's training that stop_ ends
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
