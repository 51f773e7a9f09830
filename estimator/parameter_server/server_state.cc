#include "estimator/parameter_server/server_state.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "cluster/clock.h"
#include "cluster/wire.h"
#include "estimator/parameter_server/protocol.h"
#include "graph/parameter_servers.h"
#include "runtime/device_classes/device_classes.h"
#include "runtime/format/index.h"

namespace tandem {

using parameters::Reply;
using parameters::Request;

namespace {

Shape ShapeOf(const parameters::Tensor& tensor) { return Shape(tensor.shape().begin(), tensor.shape().end()); }

std::string Text(DType dtype, const Shape& shape) { return absl::StrCat(Name(dtype), ShapeString(shape)); }

absl::Status OtherModel(absl::string_view what) {
  return WithExitCode(absl::InvalidArgumentError(absl::StrCat(
                          what, "; model_fn, input_fn and RunConfig must be the same on all tasks of the cluster")),
                      kExitUsage);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ServerState>> ServerState::Create(ServerOptions options,
                                                                 std::shared_ptr<const Executable> program,
                                                                 std::shared_ptr<ThreadPool> pool) {
  auto store = std::make_shared<VariableStore>(1);
  for (const VariableInfo& variable : options.variables) TD_RETURN_IF_ERROR(store->Create(variable));
  std::unique_ptr<ServerState> state(new ServerState(std::move(options), store));
  if (program == nullptr) return state;
  std::map<int64_t, VariableInfo> sent;  // by number, the values that workers send
  for (const auto& variable : program->index().variables) {
    const std::optional<SentValue> value = SentValueOfName(variable.name);
    if (value.has_value() && value->server == state->options_.index) {
      sent[value->number] = {
          .name = variable.name, .dtype = variable.dtype, .shape = Shape(variable.shape.begin(), variable.shape.end())};
    }
    if (variable.updated) state->updated_.push_back(variable.name);
  }
  for (auto& [number, info] : sent) {
    const RowLayout layout = RowLayoutOf(info.dtype, info.shape);
    state->sent_.push_back({.info = std::move(info), .layout = layout});
  }
  TD_ASSIGN_OR_RETURN(state->session_, CreateSession(std::move(program), store, {.pool = std::move(pool)}));
  // The values that workers send have a place in the store as well. They are zeros at first, and every step replaces
  // them.
  for (Sent& value : state->sent_) {
    const VariableInfo& info = value.info;
    TD_RETURN_IF_ERROR(store->Assign(info.name, HostTensor::Zeros(info.dtype, info.shape)));
    value.memory = state->Bytes(info.name);
  }
  return state;
}

ServerState::ServerState(ServerOptions options, std::shared_ptr<VariableStore> store)
    : options_(std::move(options)), store_(std::move(store)), progress_(options_.workers) {}

int64_t ServerState::Connect(Answer answer) {
  std::lock_guard lock(mutex_);
  connections_[next_connection_].answer = std::move(answer);
  return next_connection_++;
}

void ServerState::Disconnect(int64_t id) {
  std::lock_guard lock(mutex_);
  const auto it = connections_.find(id);
  if (it == connections_.end()) return;
  if (it->second.rank >= 0) last_seen_ = Clock::now();
  if (it->second.training && !ended_) {
    TD_LOG(WARNING) << it->second.who << " is lost; the others go on" << (it->second.rank == 0 ? ", unsaved." : ".");
  }
  connections_.erase(it);
  waiting_.remove_if([&](const Waiting& w) { return w.connection == id; });
  held_.remove_if([&](const Held& h) { return h.connection == id; });
  if (cut_.has_value() && cut_->connection == id) cut_.reset();
  Advance();
}

void ServerState::Handle(int64_t id, const grpc::ByteBuffer& frame) {
  std::lock_guard lock(mutex_);
  const auto it = connections_.find(id);
  if (it == connections_.end()) return;
  Request request;
  FrameReader tensors;
  absl::Status status = tensors.Open(frame, &request);
  if (status.ok() && request.has_exchange() && IsHeld(id, request.exchange().update())) {
    held_.push_back({id, request.exchange().update(), frame});
    return;
  }
  HandleNow(id, it->second, request, std::move(status), tensors);
  Advance();
}

void ServerState::HandleNow(int64_t id, Connection& connection, const Request& request, absl::Status status,
                            FrameReader& tensors) {
  if (status.ok()) status = Do(id, connection, request, tensors);
  if (status.ok()) return;
  Reply reply = NewReply(connection);
  ToMessage(status, reply.mutable_failure());
  AnswerWith(connection, reply, {});
}

absl::Status ServerState::Do(int64_t id, Connection& connection, const Request& request, FrameReader& tensors) {
  if (request.kind_case() != Request::kHello && connection.rank < 0) {
    if (connection.replaced_by.empty()) return absl::FailedPreconditionError("a request before Hello");
    return absl::AbortedError(
        absl::StrCat(connection.replaced_by, " has taken the place of this worker, with its rank"));
  }
  if (!failure_.empty()) return absl::AbortedError(absl::StrCat("the chief has ended the training: ", failure_));
  switch (request.kind_case()) {
    case Request::kHello:
      return Greet(connection, id, request.hello());
    case Request::kAssign:
      return Assign(connection, request.assign(), tensors);
    case Request::kExchange:
      return Update(id, connection, request.exchange(), tensors);
    case Request::kHold:
      TD_RETURN_IF_ERROR(CheckChief(connection));
      return Hold(id, request.hold());
    case Request::kRead:
      return Read(id, request.read());
    case Request::kAtEnd:
      return AtEnd(connection, request.at_end());
    case Request::kLeave:
      left_[connection.rank] = request.leave().training();
      connection.training = false;
      progress_.Leave(connection.rank, request.leave());
      AnswerOk(connection);
      return absl::OkStatus();
    case Request::kStop:
      TD_RETURN_IF_ERROR(CheckChief(connection));
      stop_ = request.stop();
      stopped_training_ = connection.in_training;
      connection.training = false;
      AnswerOk(connection);
      return absl::OkStatus();
    case Request::kCatchUp:
      if (!has_values_) return absl::FailedPreconditionError("values are asked for before there are any");
      AnswerUpdate(id, request.catch_up().seconds(), /*finite=*/true);
      return absl::OkStatus();
    case Request::kOthersLeft: {
      TD_RETURN_IF_ERROR(CheckChief(connection));
      const bool left = OthersHaveLeft(request.others_left());
      // Once the other workers have left the training, nobody is left to stop, and the next training needs a request to
      // stop of its own. The chief relies on the answer of server 0, so only server 0 drops the request.
      if (left && options_.index == 0) stop_.reset();
      Reply reply = NewReply(connection);
      reply.set_others_left(left);
      AnswerWith(connection, reply, {});
      return absl::OkStatus();
    }
    case Request::kEnd:
      TD_RETURN_IF_ERROR(CheckChief(connection));
      ended_ = true;
      failure_ = PrintableLine(request.end().failure());
      changed_.notify_all();
      AnswerOk(connection);
      return absl::OkStatus();
    case Request::KIND_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("a request of an unknown kind");
}

absl::Status ServerState::CheckChief(const Connection& connection) const {
  if (connection.rank == 0) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat("only the chief may do that, not ", PrintableLine(connection.who)));
}

absl::Status ServerState::Greet(Connection& connection, int64_t id, const parameters::Hello& hello) {
  const std::string who = PrintableLine(hello.who());
  if (hello.protocol() != kParameterProtocol) {
    return OtherModel(absl::StrCat(who, " speaks version ", hello.protocol(), " of the protocol, and ", options_.who,
                                   " speaks ", kParameterProtocol));
  }
  if (hello.server() != options_.index) {
    return OtherModel(absl::StrCat(who, " takes ", options_.who, " for ps ", hello.server()));
  }
  if (hello.rank() < 0 || hello.rank() >= options_.workers) {
    return OtherModel(
        absl::StrCat(who, " has rank ", hello.rank(), ", and ", options_.who, " knows ", options_.workers, " workers"));
  }
  for (const rendezvous::Fact& fact : hello.facts()) {
    const auto ours = options_.facts.find(fact.name());
    if (ours == options_.facts.end() || ours->second == fact.value()) continue;
    return OtherModel(absl::StrCat(who, " has another ", PrintableLine(fact.name()), " than ", options_.who, ": { ",
                                   PrintableLine(fact.value()), " }, not { ", PrintableLine(ours->second), " }"));
  }
  for (int i = 0; i < std::max<int>(hello.sent_size(), static_cast<int>(sent_.size())); ++i) {
    const std::string theirs =
        i < hello.sent_size() ? absl::StrCat(PrintableLine(hello.sent(i).name()), " ",
                                             Text(static_cast<DType>(hello.sent(i).dtype()), ShapeOf(hello.sent(i))))
                              : "nothing";
    const std::string ours = i < static_cast<int>(sent_.size())
                                 ? absl::StrCat(sent_[i].info.name, " ", Text(sent_[i].info.dtype, sent_[i].info.shape))
                                 : "nothing";
    if (theirs != ours) {
      return OtherModel(
          absl::StrCat(who, " has another model than ", options_.who, ": it sends ", theirs, ", not ", ours));
    }
  }
  std::vector<std::string> updated;
  for (const std::string& name : hello.reads()) {
    if (!store_->Contains(name)) {
      return OtherModel(
          absl::StrCat(who, " reads the variable ", PrintableLine(name), ", which ", options_.who, " does not have"));
    }
    if (std::find(updated_.begin(), updated_.end(), name) != updated_.end()) updated.push_back(name);
  }
  // If this worker has an older connection, its loss was not noticed yet: the new one takes its place.
  for (auto& [other, c] : connections_) {
    if (other == id || c.rank != hello.rank()) continue;
    c.rank = -1;
    c.training = false;
    c.replaced_by = who;
  }
  if (const auto known = came_.find(hello.rank()); known != came_.end() && known->second != who) {
    TD_LOG(INFO) << who << " takes the place of " << known->second << ".";
    left_.erase(hello.rank());
  }
  came_[hello.rank()] = who;
  int64_t& left = left_[hello.rank()];
  // A server that was started again does not know that the worker has left earlier trainings.
  left = std::max(left, hello.training() - 1);
  progress_.Greet(hello);
  if (hello.rank() == 0) stop_.reset();
  connection.rank = hello.rank();
  connection.in_training = hello.training();
  connection.who = who;
  connection.updated = std::move(updated);
  connection.read_step = step_;
  last_seen_ = Clock::now();
  Reply reply = NewReply(connection);
  reply.mutable_welcome()->set_who(options_.who);
  reply.mutable_welcome()->set_has_values(has_values_);
  for (const std::string& name : connection.updated) reply.mutable_welcome()->add_updated(name);
  AnswerWith(connection, reply, {});
  return absl::OkStatus();
}

absl::Status ServerState::Assign(Connection& connection, const parameters::Assign& assign, FrameReader& tensors) {
  TD_RETURN_IF_ERROR(CheckChief(connection));
  std::set<std::string> given;
  for (const parameters::Tensor& tensor : assign.tensors()) {
    const absl::StatusOr<VariableInfo> info = store_->Info(tensor.name());
    const std::string text =
        absl::StrCat(PrintableLine(tensor.name()), " ", Text(static_cast<DType>(tensor.dtype()), ShapeOf(tensor)));
    if (!info.ok() || info->dtype != static_cast<DType>(tensor.dtype()) || info->shape != ShapeOf(tensor)) {
      return OtherModel(absl::StrCat(connection.who, " has the variable ", text, ", and ", options_.who, " has ",
                                     info.ok() ? Text(info->dtype, info->shape) : "none of that name"));
    }
    HostTensor value = HostTensor::Zeros(info->dtype, info->shape);
    const size_t bytes = Bytes(tensor.name()).size;
    if (bytes > tensors.left()) return absl::InvalidArgumentError(absl::StrCat("no bytes for the variable ", text));
    tensors.Read(value.raw(), bytes);
    TD_RETURN_IF_ERROR(store_->Assign(tensor.name(), value));
    given.insert(tensor.name());
  }
  for (const VariableInfo& variable : options_.variables) {
    if (!given.contains(variable.name)) {
      return OtherModel(
          absl::StrCat(connection.who, " has no value for the variable ", variable.name, " of ", options_.who));
    }
  }
  has_values_ = true;
  step_ = assign.step();
  progress_.Assign(assign.workers());
  row_versions_.clear();
  for (auto& [id, c] : connections_) {
    c.read_step = step_;
    c.updated_step = -1;
  }
  AnswerOk(connection);
  return absl::OkStatus();
}

absl::Status ServerState::Update(int64_t id, Connection& connection, const parameters::Exchange& exchange,
                                 FrameReader& tensors) {
  if (!has_values_) return absl::FailedPreconditionError("a step before there are values");
  TD_RETURN_IF_ERROR(Receive(connection, exchange, tensors));
  bool finite = true;
  if (session_ != nullptr) {
    store_->NoteWrites();
    StepInputs inputs;
    inputs.inputs.emplace_back();
    inputs.scalars = options_.scalar_defaults;
    for (const parameters::Scalar& scalar : exchange.scalars()) {
      inputs.scalars[scalar.name()] = scalar.value_case() == parameters::Scalar::kInteger
                                          ? ScalarValue(scalar.integer())
                                          : ScalarValue(scalar.number());
    }
    TD_ASSIGN_OR_RETURN(const StepResult result, session_->Run(inputs, {}));
    finite = result.finite;
  }
  if (finite) {
    ++step_;
    for (auto& [name, versions] : row_versions_) versions.Update(Bytes(name).data, step_);
  }
  progress_.Update(connection.rank, exchange);
  connection.read_step = step_;
  connection.will_read = false;
  connection.training = true;
  AnswerUpdate(id, exchange.seconds(), finite);
  return absl::OkStatus();
}

void ServerState::AnswerUpdate(int64_t id, double seconds, bool finite) {
  const auto may_go_on = [this, id, training = connections_.at(id).in_training] {
    return !options_.max_staleness.has_value() || IsStopped(training) ||
           StalenessOfOthers(id) <= *options_.max_staleness;
  };
  waiting_.push_back({id, [may_go_on, end = After<Clock>(seconds)] { return may_go_on() || Clock::now() >= end; },
                      [this, may_go_on, finite](Connection& c) {
                        Reply reply = NewReply(c);
                        reply.set_not_finite(!finite);
                        c.ahead = !may_go_on();
                        reply.set_ahead(c.ahead);
                        if (c.ahead) return AnswerWith(c, reply, {});
                        c.read_step = step_;
                        AnswerWithUpdated(c, std::move(reply));
                      }});
}

absl::Status ServerState::Receive(const Connection& connection, const parameters::Exchange& exchange,
                                  FrameReader& tensors) {
  std::vector<std::optional<int64_t>> counts(sent_.size());  // for each value, the number of rows that are sent
  for (const parameters::Rows& rows : exchange.rows()) {
    if (rows.tensor() < 0 || rows.tensor() >= static_cast<int64_t>(sent_.size()) || counts[rows.tensor()].has_value() ||
        rows.count() < 0 || rows.count() > sent_[rows.tensor()].layout.rows) {
      return absl::InvalidArgumentError(
          absl::StrCat("a step with ", rows.count(), " rows of its value ", rows.tensor()));
    }
    counts[rows.tensor()] = rows.count();
  }
  size_t bytes = 0;
  for (size_t i = 0; i < sent_.size(); ++i) {
    bytes += counts[i].has_value() ? sent_[i].layout.packed_bytes(*counts[i]) : sent_[i].memory.size;
  }
  if (bytes != tensors.left()) {
    return absl::InvalidArgumentError(absl::StrCat("a step with ", tensors.left(), " bytes in place of ", bytes));
  }
  for (size_t i = 0; i < sent_.size(); ++i) {
    Sent& value = sent_[i];
    char* const memory = static_cast<char*>(const_cast<void*>(value.memory.data));
    const std::optional<RowNumbers> before = std::exchange(value.rows, std::nullopt);
    if (!counts[i].has_value()) {
      tensors.Read(memory, value.memory.size);
      continue;
    }
    if (before.has_value()) {
      for (const uint32_t row : *before) std::memset(memory + row * value.layout.row_bytes, 0, value.layout.row_bytes);
    } else {
      std::memset(memory, 0, value.memory.size);
    }
    RowNumbers rows;
    TD_RETURN_IF_ERROR(UnpackRows(tensors, value.layout, *counts[i], memory, &rows));
    value.rows = std::move(rows);
    WatchRows(connection, value.info);
  }
  return absl::OkStatus();
}

void ServerState::WatchRows(const Connection& connection, const VariableInfo& sent) {
  for (const std::string& name : connection.updated) {
    if (row_versions_.contains(name)) continue;
    const absl::StatusOr<VariableInfo> info = store_->Info(name);
    if (!info.ok() || info->dtype != sent.dtype || info->shape != sent.shape) continue;
    row_versions_.try_emplace(name, Bytes(name).data, RowLayoutOf(info->dtype, info->shape), step_);
  }
}

absl::Status ServerState::Hold(int64_t id, const parameters::Hold& hold) {
  Connection& connection = connections_.at(id);
  connection.will_read = true;
  if (!(hold.seconds() > 0)) {
    AnswerOk(connection);
    return absl::OkStatus();
  }
  cut_ = {.connection = id, .wants_positions = hold.positions()};
  waiting_.push_back(
      {id,
       [this, positions = hold.positions(), end = After<Clock>(hold.seconds())] {
         return !positions || PositionsAreKnown() || Clock::now() >= end;
       },
       [this, id, seconds = hold.seconds(), positions = hold.positions()](Connection& c) {
         cut_ = {.connection = id, .wants_positions = positions, .holds = true, .end = After<Clock>(seconds)};
         Reply reply = NewReply(c);
         *reply.mutable_workers() = progress_.All(/*positions=*/false);
         AnswerWith(c, reply, {});
       }});
  return absl::OkStatus();
}

absl::Status ServerState::AtEnd(Connection& connection, const parameters::AtEnd& at_end) {
  if (connection.rank == 0) progress_.set_keep_ends(at_end.keep());
  const std::optional<bool> all =
      progress_.AtEnd(connection.rank, [&](int64_t rank) { return !at_end.without_absent() || IsHere(rank); });
  Reply reply = NewReply(connection);
  reply.mutable_all_at_end()->set_known(all.has_value());
  reply.mutable_all_at_end()->set_all(all.value_or(false));
  AnswerWith(connection, reply, {});
  return absl::OkStatus();
}

absl::Status ServerState::Read(int64_t id, const parameters::Read& read) {
  const std::vector<std::string> names(read.names().begin(), read.names().end());
  for (const std::string& name : names) {
    if (!store_->Contains(name)) {
      return absl::InvalidArgumentError(absl::StrCat("there is no variable ", PrintableLine(name)));
    }
  }
  if (cut_.has_value() && cut_->connection == id) cut_->until = read.until();
  waiting_.push_back({id,
                      [this, id] {
                        if (!cut_.has_value() || cut_->connection != id) return has_values_;
                        return has_values_ &&
                               std::all_of(cut_->until.begin(), cut_->until.end(), [this](const auto& until) {
                                 return !IsHere(until.rank()) || progress_.Reached(until);
                               });
                      },
                      [this, id, names](Connection& c) {
                        if (cut_.has_value() && cut_->connection == id) cut_.reset();
                        c.read_step = step_;
                        c.will_read = false;
                        Reply reply = NewReply(c);
                        if (options_.index == 0) *reply.mutable_workers() = progress_.All(/*positions=*/true);
                        AnswerWith(c, reply, names);
                      }});
  return absl::OkStatus();
}

bool ServerState::IsHeld(int64_t connection, int64_t update) const {
  if (!cut_.has_value() || !cut_->holds) return false;
  const auto c = connections_.find(connection);
  return c != connections_.end() && !InputProgress::Asked(cut_->until, c->second.rank, update);
}

bool ServerState::PositionsAreKnown() const {
  return std::all_of(connections_.begin(), connections_.end(), [this](const auto& entry) {
    const Connection& c = entry.second;
    return c.rank <= 0 || !c.training || progress_.Exact(c.rank);
  });
}

bool ServerState::UpdateHeld() {
  bool any = false;
  for (auto it = held_.begin(); it != held_.end();) {
    if (IsHeld(it->connection, it->update)) {
      ++it;
      continue;
    }
    const Held held = std::move(*it);
    it = held_.erase(it);
    Request request;
    FrameReader tensors;
    absl::Status status = tensors.Open(held.frame, &request);
    HandleNow(held.connection, connections_.at(held.connection), request, std::move(status), tensors);
    any = true;
  }
  return any;
}

Reply ServerState::NewReply(const Connection& connection) const {
  Reply reply;
  reply.set_step(step_);
  if (IsStopped(connection.in_training)) *reply.mutable_stop() = *stop_;
  reply.set_positions_wanted(cut_.has_value() && cut_->wants_positions);
  return reply;
}

void ServerState::AnswerWith(Connection& connection, const Reply& reply, const std::vector<std::string>& variables) {
  std::vector<ByteRange> tensors;
  for (const std::string& name : variables) tensors.push_back(Bytes(name));
  connection.answer(FrameWithCopies(reply, tensors));
}

void ServerState::AnswerWithUpdated(Connection& connection, Reply reply) {
  std::list<std::string> packed;
  std::vector<ByteRange> tensors;
  for (size_t i = 0; i < connection.updated.size(); ++i) {
    const std::string& name = connection.updated[i];
    const auto versions = row_versions_.find(name);
    std::optional<RowNumbers> rows;
    if (versions != row_versions_.end() && connection.updated_step >= 0) {
      rows = versions->second.ChangedAfter(connection.updated_step);
    }
    if (!rows.has_value()) {
      tensors.push_back(Bytes(name));
      continue;
    }
    tensors.push_back(SendRows(static_cast<int64_t>(i), Bytes(name).data, versions->second.layout(), *rows,
                               reply.mutable_rows(), &packed));
  }
  connection.updated_step = step_;
  connection.answer(FrameWithCopies(reply, tensors));
}

ByteRange ServerState::Bytes(const std::string& variable) const {
  const absl::StatusOr<VariableInfo> info = store_->Info(variable);
  if (!info.ok()) return {};
  return {store_->Buffer(variable, 0), static_cast<size_t>(NumElements(info->shape) * SizeOf(info->dtype))};
}

int64_t ServerState::StalenessOfOthers(int64_t connection) const {
  int64_t staleness = 0;
  for (const auto& [id, c] : connections_) {
    if (id == connection || !c.training) continue;
    // A worker that waits for new values has made its update already, so it is not behind.
    const bool waits = c.ahead || c.will_read || std::any_of(waiting_.begin(), waiting_.end(), [&](const Waiting& w) {
                         return w.connection == id;
                       });
    if (!waits) staleness = std::max(staleness, step_ - c.read_step);
  }
  return staleness;
}

bool ServerState::IsStopped(int64_t training) const {
  return stop_.has_value() && (stop_->signal() || training <= stopped_training_);
}

bool ServerState::OthersHaveLeft(const parameters::OthersLeft& asked) const {
  for (int64_t rank = 1; rank < options_.workers; ++rank) {
    if (const auto left = left_.find(rank); left != left_.end() && left->second >= asked.training()) continue;
    if (IsHere(rank)) return false;
    // If all are asked to stop, a worker that was lost counts as having left.
    if (stop_.has_value() && came_.contains(rank)) continue;
    // A worker that is not connected may still come, so it has not left unless the chief asks for connected ones only.
    if (!asked.without_absent()) return false;
  }
  return true;
}

bool ServerState::IsHere(int64_t rank) const {
  return std::any_of(connections_.begin(), connections_.end(),
                     [&](const auto& entry) { return entry.second.rank == rank; });
}

void ServerState::Advance() {
  if (cut_.has_value() && cut_->holds && Clock::now() >= cut_->end) cut_.reset();
  while (UpdateHeld() || AnswerReady()) {
  }
}

bool ServerState::AnswerReady() {
  bool any = false;
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    if (!it->ready()) {
      ++it;
      continue;
    }
    const Waiting done = std::move(*it);
    it = waiting_.erase(it);
    if (const auto c = connections_.find(done.connection); c != connections_.end()) done.answer(c->second);
    any = true;
  }
  return any;
}

bool ServerState::WaitForEnd(Clock::duration at_most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, at_most, [&] { return ended_; });
  Advance();
  return ended_;
}

std::string ServerState::failure() const {
  std::lock_guard lock(mutex_);
  return failure_;
}

ServerState::Clock::duration ServerState::alone() const {
  std::lock_guard lock(mutex_);
  for (const auto& [id, c] : connections_) {
    if (c.rank >= 0) return Clock::duration::zero();
  }
  return Clock::now() - last_seen_;
}

}  // namespace tandem
