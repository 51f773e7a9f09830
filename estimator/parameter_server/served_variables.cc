#include "estimator/parameter_server/served_variables.h"

#include <algorithm>
#include <chrono>
#include <list>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/annotate.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "estimator/parameter_server/part_values.h"
#include "estimator/parameter_server/placement.h"
#include "estimator/parameter_server/protocol.h"
#include "estimator/parameter_server/rows.h"
#include "estimator/parameter_server/server_connection.h"
#include "runtime/format/index.h"

namespace tandem {

using parameters::Reply;
using parameters::Request;

namespace {

using Clock = std::chrono::steady_clock;

double SecondsUntil(Clock::time_point end) { return std::chrono::duration<double>(end - Clock::now()).count(); }

Clock::time_point In(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// A worker sends its next input position only after so many times the seconds that sending the last one took.
constexpr double kTimesItsCost = 300;
constexpr double kMostSecondsBetweenPositions = 10;
constexpr double kBytesPerSecond = 1e9, kMostGrowth = 1.5;

constexpr double kPause = 0.05;  // seconds between two requests whose answer may change

uint64_t NumberOfProcess() {
  std::random_device random;
  return uint64_t{random()} << 32 | random();
}

// Returns how long a server may delay an answer. It is less than the deadline, so that an answer shows in time that the
// server is alive.
double Patience(double deadline_seconds) { return std::min(1.0, deadline_seconds / 2); }

Request ReadRequest(const std::vector<PlacedPart>& parts) {
  Request request;
  request.mutable_read();
  for (const PlacedPart& part : parts) request.mutable_read()->add_names(part.name());
  return request;
}

Request HoldRequest(double seconds) {
  Request request;
  request.mutable_hold()->set_seconds(seconds);
  return request;
}

Request StopRequest(ServedVariables::Wish wish) {
  Request request;
  request.mutable_stop()->set_signal(wish == ServedVariables::Wish::kSignal);
  return request;
}

void Describe(const std::string& name, int dtype, const Shape& shape, parameters::Tensor* tensor) {
  tensor->set_name(name);
  tensor->set_dtype(dtype);
  for (int64_t size : shape) tensor->add_shape(size);
}

}  // namespace

struct ServedVariables::Server {
  std::string name;  // for messages: "ps 0 at host:port"
  std::unique_ptr<ServerConnection> connection;
  parameters::Request hello;
  std::vector<PlacedPart> variables;  // all parts that are placed on this server
  std::vector<std::string> sent;      // the program's outputs that are sent to this server, by number
  std::vector<PlacedPart> reads;      // the parts of variables that the program uses
  std::vector<PlacedPart> updated;    // the parts in `reads` that steps change
};

ServedVariables::ServedVariables(Options options) : options_(std::move(options)), process_(NumberOfProcess()) {}
ServedVariables::~ServedVariables() = default;

absl::Status ServedVariables::Begin(const Executable& program, std::shared_ptr<VariableStore> store, int64_t step,
                                    int64_t training, Positions positions) {
  store_ = std::move(store);
  step_ = step;
  positions_ = std::move(positions);
  wish_ = Wish::kGoOn;
  stop_.reset();
  servers_.clear();
  sent_.clear();
  TD_ASSIGN_OR_RETURN(credentials_, Credentials::Make(options_.tls));
  servers_.resize(options_.addresses.size());
  const format::Index& index = program.index();
  if (index.parameter_servers != servers_.size()) {
    return absl::InvalidArgumentError(absl::StrCat("a program for ", index.parameter_servers,
                                                   " parameter servers, and a cluster with ", servers_.size()));
  }
  const std::vector<PlacedPart> placement = PlacementOf(program);
  std::set<std::string> in_program;
  for (const auto& variable : index.variables) in_program.insert(variable.name);
  std::map<std::pair<int, int64_t>, const format::Output*> sent;
  for (const auto& output : index.outputs) {
    if (const std::optional<SentValue> value = SentValueOfName(output.name)) {
      sent[{value->server, value->number}] = &output;
    }
  }
  for (size_t i = 0; i < servers_.size(); ++i) {
    Server& server = servers_[i];
    server.name = absl::StrCat("ps ", i, " at ", options_.addresses[i]);
    parameters::Hello* hello = server.hello.mutable_hello();
    hello->set_protocol(kParameterProtocol);
    hello->set_rank(options_.rank);
    hello->set_server(static_cast<int64_t>(i));
    hello->set_who(options_.who);
    hello->set_training(training);
    hello->set_process(process_);
    for (const auto& [name, value] : options_.facts) {
      rendezvous::Fact* fact = hello->add_facts();
      fact->set_name(name);
      fact->set_value(value);
    }
    for (const auto& [key, output] : sent) {
      if (key.first != static_cast<int>(i)) continue;
      server.sent.push_back(output->name);
      const format::Buffer& buffer = index.programs[0].buffers[output->buffer];
      Describe(output->name, static_cast<int>(buffer.dtype), Shape(buffer.shape.begin(), buffer.shape.end()),
               hello->add_sent());
    }
    for (const PlacedPart& part : placement) {
      if (part.server != static_cast<int>(i)) continue;
      server.variables.push_back(part);
      if (!in_program.contains(part.variable)) continue;
      server.reads.push_back(part);
      hello->add_reads(part.name());
    }
    sent_.insert(sent_.end(), server.sent.begin(), server.sent.end());
  }
  for (Server& server : servers_)
    TD_RETURN_IF_ERROR(Meet(server, options_.start_deadline_seconds, options_.interrupted));
  return absl::OkStatus();
}

absl::Status ServedVariables::Connect(Server& server, double seconds) {
  const Clock::time_point end = In(seconds);
  server.hello.mutable_hello()->set_updates(updates_);
  if (&server == servers_.data()) next_position_ = {};
  const size_t index = &server - servers_.data();
  const std::string& address = options_.addresses[index];
  DialWatch watch(credentials_, absl::StrCat("parameter server ps ", index), address, options_.deadline_seconds);
  while (true) {
    server.connection = std::make_unique<ServerConnection>(absl::StrCat("parameter server ", server.name), address,
                                                           options_.deadline_seconds, credentials_);
    absl::StatusOr<Reply> reply = server.connection->Ask(server.hello);
    if (reply.ok()) {
      Note(server, *reply);
      server.updated.clear();
      const auto& updated = reply->welcome().updated();
      for (const PlacedPart& part : server.reads) {
        if (std::find(updated.begin(), updated.end(), part.name()) != updated.end()) server.updated.push_back(part);
      }
      return reply->welcome().has_values() ? absl::OkStatus() : absl::NotFoundError("it has no values yet");
    }
    if (!absl::IsUnavailable(reply.status())) return reply.status();
    server.connection = nullptr;
    if (options_.interrupted && options_.interrupted()) return absl::CancelledError("interrupted");
    TD_RETURN_IF_ERROR(watch.Failed());
    if (SecondsUntil(end) < kPause) {
      return Annotate(reply.status(), "", absl::StrFormat("; it was waited for %g s", seconds));
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(kPause));
  }
}

absl::Status ServedVariables::Meet(Server& server, double seconds, const std::function<bool()>& giving_ends) {
  const absl::Status connected = Connect(server, seconds);
  const bool chief = options_.rank == 0;
  if (&server == servers_.data()) had_values_ = connected.ok();
  if (absl::IsNotFound(connected) && chief) {
    TD_RETURN_IF_ERROR(LookFirst(server));
    return GiveValues(server, giving_ends);
  }
  if (!absl::IsNotFound(connected)) TD_RETURN_IF_ERROR(connected);
  return TakeValues(server, chief ? server.variables : server.reads);
}

absl::Status ServedVariables::LookFirst(Server& server) {
  if (look_) {
    TD_ASSIGN_OR_RETURN(const bool over, std::exchange(look_, nullptr)());
    if (over) stop_ = std::make_unique<Request>(StopRequest(Wish::kStop));
  }
  // The answer comes from a server without values and has no valid step, so it is not passed to Note.
  return stop_ != nullptr ? server.connection->Ask(*stop_).status() : absl::OkStatus();
}

absl::Status ServedVariables::GiveValues(Server& server, const std::function<bool()>& interrupted) {
  Request request;
  parameters::Assign* assign = request.mutable_assign();
  assign->set_step(step_);
  if (&server == servers_.data()) {
    for (const auto& [rank, at] : positions_) {
      parameters::Progress* worker = assign->add_workers();
      worker->set_rank(rank);
      worker->set_position(at.position);
      worker->set_behind(at.behind);
    }
  }
  std::vector<std::string> names;
  for (const PlacedPart& part : server.variables) names.push_back(part.variable);
  TD_ASSIGN_OR_RETURN(const std::vector<HostTensor> values, store_->ReadAll(names));
  std::vector<ByteRange> bytes;
  for (size_t i = 0; i < values.size(); ++i) {
    TD_ASSIGN_OR_RETURN(const PartMemory memory, MemoryOf(server.variables[i], *store_));
    Describe(server.variables[i].name(), static_cast<int>(memory.dtype), memory.shape, assign->add_tensors());
    bytes.push_back({static_cast<const char*>(values[i].raw()) + memory.offset, static_cast<size_t>(memory.bytes)});
  }
  TD_RETURN_IF_ERROR(server.connection->Begin(request, bytes));
  return server.connection->End(options_.start_deadline_seconds, nullptr, interrupted).status();
}

absl::Status ServedVariables::TakeValues(Server& server, const std::vector<PlacedPart>& parts) {
  TD_RETURN_IF_ERROR(server.connection->Begin(ReadRequest(parts), {}));
  FrameReader tensors;
  absl::StatusOr<Reply> reply = server.connection->End(options_.start_deadline_seconds, &tensors, options_.interrupted);
  TD_RETURN_IF_ERROR(Annotate(reply.status(), "", "; the chief gives the first values"));
  Note(server, *reply);
  if (&server == servers_.data()) NotePositions(*reply);
  return WriteParts(parts, /*rows=*/{}, tensors, *store_);
}

void ServedVariables::Note(const Server& server, const Reply& reply) {
  if (&server != servers_.data()) return;
  if (reply.welcome().has_values() || !reply.has_welcome()) step_ = reply.step();
  wish_ = !reply.has_stop() ? Wish::kGoOn : reply.stop().signal() ? Wish::kSignal : Wish::kStop;
  wanted_ = reply.positions_wanted();
}

void ServedVariables::NotePositions(const Reply& reply) {
  positions_.clear();
  for (const parameters::Progress& worker : reply.workers()) {
    positions_[worker.rank()] = {worker.position(), worker.behind()};
  }
}

absl::Status ServedVariables::AddPosition(parameters::Exchange* exchange) {
  if (!position_) return absl::OkStatus();
  const Clock::time_point now = Clock::now();
  const bool next_too = wanted_ || now >= next_position_;
  if (!next_too && !promised_) return absl::OkStatus();
  promised_ = next_too;
  TD_ASSIGN_OR_RETURN(std::string position, position_());
  const double cost = std::chrono::duration<double>(Clock::now() - now).count() +
                      static_cast<double>(position.size()) / kBytesPerSecond;
  // `cost` may include time in which another process had the processor, so a single measurement makes the estimate grow
  // only a little.
  position_cost_ = position_cost_ > 0 ? std::min(cost, kMostGrowth * position_cost_) : cost;
  next_position_ = now + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
                             std::min(kTimesItsCost * position_cost_, kMostSecondsBetweenPositions)));
  exchange->set_position(std::move(position));
  exchange->set_next_too(next_too);
  return absl::OkStatus();
}

absl::Status ServedVariables::Exchange(const std::map<std::string, HostTensor>& values, const StepScalars& scalars) {
  Request scalars_only;
  scalars_only.mutable_exchange();
  for (const auto& [name, value] : scalars) {
    parameters::Scalar* scalar = scalars_only.mutable_exchange()->add_scalars();
    scalar->set_name(name);
    if (value.integral()) {
      scalar->set_integer(value.integer());
    } else {
      scalar->set_number(value);
    }
  }
  scalars_only.mutable_exchange()->set_update(++updates_);
  scalars_only.mutable_exchange()->set_seconds(Patience(options_.deadline_seconds));
  std::vector<absl::Status> begun;
  std::list<std::string> packed;
  for (Server& server : servers_) {
    Request request = scalars_only;
    if (&server == servers_.data()) TD_RETURN_IF_ERROR(AddPosition(request.mutable_exchange()));
    std::vector<ByteRange> bytes;
    for (size_t i = 0; i < server.sent.size(); ++i) {
      const HostTensor& value = values.at(server.sent[i]);
      bytes.push_back({value.raw(), static_cast<size_t>(value.byte_size())});
      const RowLayout layout = RowLayoutOf(value.dtype(), value.shape());
      if (const std::optional<RowNumbers> rows = NonZeroRows(value.raw(), layout)) {
        bytes.back() = SendRows(static_cast<int64_t>(i), value.raw(), layout, *rows,
                                request.mutable_exchange()->mutable_rows(), &packed);
      }
      traffic_.sent += bytes.back().size;
    }
    begun.push_back(server.connection->Begin(request, bytes));
  }
  // Waits for all answers, even after an error, because the values must stay in memory until they have been sent.
  absl::Status result;
  for (size_t i = 0; i < servers_.size(); ++i) {
    Server& server = servers_[i];
    FrameReader tensors;
    absl::Status status = begun[i];
    if (status.ok()) {
      absl::StatusOr<Reply> reply = EndUpdate(server, &tensors);
      status = reply.status();
      if (status.ok() && reply->not_finite()) {
        status = absl::InternalError(absl::StrCat("a NaN or infinity came out of the update of ", server.name));
      } else if (status.ok() && !reply->ahead()) {
        traffic_.received += tensors.left();
        status = WriteParts(server.updated, reply->rows(), tensors, *store_);
      }
    }
    result.Update(Recovered(server, status));
  }
  return result;
}

absl::StatusOr<Reply> ServedVariables::EndUpdate(Server& server, FrameReader* tensors) {
  for (bool finite = true;;) {
    TD_ASSIGN_OR_RETURN(Reply reply, server.connection->End(options_.deadline_seconds, tensors));
    Note(server, reply);
    finite = finite && !reply.not_finite();
    reply.set_not_finite(!finite);
    if (!reply.ahead() || !finite || (options_.interrupted && options_.interrupted())) return reply;
    Request request;
    request.mutable_catch_up()->set_seconds(Patience(options_.deadline_seconds));
    TD_RETURN_IF_ERROR(server.connection->Begin(request, {}));
  }
}

absl::Status ServedVariables::Recovered(Server& server, const absl::Status& status) {
  if (!absl::IsUnavailable(status)) return status;
  TD_LOG(WARNING) << "Lost " << server.name << " (" << status.message() << "); waiting for it for "
                  << options_.deadline_seconds << " s.";
  // A signal does not interrupt the chief while it sends its values to a server that is back, because the chief's last
  // checkpoint gets the servers' values.
  const absl::Status met = Meet(server, options_.deadline_seconds, /*giving_ends=*/nullptr);
  if (absl::IsCancelled(met)) return Annotate(status, "", "; a signal ended the wait for it");
  TD_RETURN_IF_ERROR(met);
  TD_LOG(WARNING) << server.name << " is back"
                  << (options_.rank == 0 ? ", with the values that the chief has read last." : ".");
  last_met_ = Clock::now();
  return stop_ != nullptr ? Ask(server, *stop_).status() : absl::OkStatus();
}

bool ServedVariables::HaveHadTime(Clock::time_point begin) const {
  return Clock::now() - std::max(begin, last_met_) >= std::chrono::duration<double>(options_.deadline_seconds);
}

absl::Status ServedVariables::Hold(Server& server, Cut* cut) {
  Request request = HoldRequest(options_.deadline_seconds / 2);
  request.mutable_hold()->set_positions(position_ != nullptr && &server == servers_.data());
  TD_ASSIGN_OR_RETURN(const Reply reply, AskOnce(server, request));
  for (const parameters::Progress& worker : reply.workers()) {
    const auto [most, is_new] = cut->try_emplace(worker.rank(), worker);
    if (is_new) continue;
    if (most->second.process() != worker.process()) {
      // The worker's process was replaced by another one, which has connected to some servers only and has made no
      // update.
      most->second.clear_process();
      most->second.clear_updates();
    } else {
      most->second.set_updates(std::max(most->second.updates(), worker.updates()));
    }
  }
  return absl::OkStatus();
}

absl::Status ServedVariables::ReadAll() {
  std::vector<absl::Status> of_server;
  Cut cut;
  bool held = options_.rank == 0;
  // Server 0 answers the request Hold when it has the workers' positions, which come with updates. A worker that is too
  // far ahead makes no update as long as any server makes it wait for the chief. So the other servers are told first
  // that the chief is going to read, which lets such a worker go on. Lost servers are noticed below.
  for (size_t i = 1; held && i < servers_.size(); ++i) {
    AskOnce(servers_[i], HoldRequest(/*seconds=*/0)).status().IgnoreError();
  }
  for (Server& server : servers_) {
    of_server.push_back(held ? Hold(server, &cut) : absl::OkStatus());
    held = held && of_server.back().ok();
  }
  // Sends all requests before waiting for the first answer: a server makes no updates until it has been read.
  for (size_t i = 0; i < servers_.size(); ++i) {
    if (!of_server[i].ok()) continue;
    Request request = ReadRequest(servers_[i].variables);
    for (const auto& [rank, worker] : cut) {
      if (held) *request.mutable_read()->add_until() = worker;
    }
    of_server[i] = servers_[i].connection->Begin(request, {});
  }
  for (size_t i = 0; i < servers_.size(); ++i) {
    if (!of_server[i].ok()) continue;
    FrameReader tensors;
    const absl::StatusOr<Reply> reply = servers_[i].connection->End(options_.deadline_seconds, &tensors);
    of_server[i] = reply.status();
    if (!reply.ok()) continue;
    Note(servers_[i], *reply);
    if (i == 0) NotePositions(*reply);
    of_server[i] = WriteParts(servers_[i].variables, /*rows=*/{}, tensors, *store_);
  }
  for (size_t i = 0; i < servers_.size(); ++i) TD_RETURN_IF_ERROR(Recovered(servers_[i], of_server[i]));
  return absl::OkStatus();
}

absl::StatusOr<bool> ServedVariables::AllAtEnd(bool keep) {
  const Clock::time_point begin = Clock::now();
  while (true) {
    Request request;
    request.mutable_at_end()->set_without_absent(HaveHadTime(begin));
    request.mutable_at_end()->set_keep(keep);
    TD_ASSIGN_OR_RETURN(const Reply reply, Ask(servers_[0], request));
    if (reply.all_at_end().known()) return reply.all_at_end().all();
    if (wish_ != Wish::kGoOn || (options_.interrupted && options_.interrupted())) return false;
    std::this_thread::sleep_for(std::chrono::duration<double>(kPause));
  }
}

absl::StatusOr<Reply> ServedVariables::AskOnce(Server& server, const Request& request) {
  if (server.connection == nullptr) return absl::FailedPreconditionError("not connected");
  TD_ASSIGN_OR_RETURN(Reply reply, server.connection->Ask(request));
  Note(server, reply);
  return reply;
}

absl::StatusOr<Reply> ServedVariables::Ask(Server& server, const Request& request) {
  while (true) {
    absl::StatusOr<Reply> reply = AskOnce(server, request);
    if (reply.ok()) return reply;
    TD_RETURN_IF_ERROR(Recovered(server, reply.status()));
  }
}

absl::Status ServedVariables::Leave(int64_t training) {
  if (servers_.empty()) return absl::OkStatus();
  Request request;
  request.mutable_leave()->set_training(training);
  for (Server& server : servers_) {
    if (&server == servers_.data() && position_) {
      TD_ASSIGN_OR_RETURN(*request.mutable_leave()->mutable_position(), position_());
    } else {
      request.mutable_leave()->clear_position();
    }
    TD_RETURN_IF_ERROR(Ask(server, request).status());
  }
  return absl::OkStatus();
}

absl::Status ServedVariables::Stop(Wish wish) {
  stop_ = std::make_unique<Request>(StopRequest(wish));
  const Request request = *stop_;
  for (Server& server : servers_) TD_RETURN_IF_ERROR(Ask(server, request).status());
  return absl::OkStatus();
}

absl::Status ServedVariables::WaitForOthers(int64_t training, bool here_only) {
  if (servers_.empty()) return absl::OkStatus();
  const Clock::time_point begin = Clock::now();
  while (true) {
    // Only the answer of server 0 counts. The other servers are asked too, because the chief sends its values again to
    // a server that was lost, and notices the loss only when it asks.
    bool left = false;
    for (Server& server : servers_) {
      Request request;
      request.mutable_others_left()->set_training(training);
      request.mutable_others_left()->set_without_absent(here_only || HaveHadTime(begin));
      TD_ASSIGN_OR_RETURN(const Reply reply, Ask(server, request));
      if (&server == servers_.data()) left = reply.others_left();
    }
    if (left) return absl::OkStatus();
    if (!here_only && options_.interrupted && options_.interrupted()) return absl::CancelledError("interrupted");
    std::this_thread::sleep_for(std::chrono::duration<double>(kPause));
  }
}

void ServedVariables::End(const absl::Status& status) {
  Request request;
  request.mutable_end()->set_failure(std::string(status.message()));
  constexpr double kPatience = 2;
  for (Server& server : servers_) {
    if (server.connection == nullptr || !server.connection->Begin(request, {}).ok()) continue;
    (void)server.connection->End(std::min(kPatience, options_.deadline_seconds));
  }
}

}  // namespace tandem
