// Steps that a worker sends to a parameter server which updates its variables: frames, each behind its length in two
// bytes, from a connection that has greeted and given values. The worker's copy follows from the answers.
#include <cstring>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/logging.h"
#include "estimator/parameter_server/frame.h"
#include "estimator/parameter_server/messages.pb.h"
#include "estimator/parameter_server/protocol.h"
#include "estimator/parameter_server/rows.h"
#include "estimator/parameter_server/server_state.h"
#include "graph/parameter_servers.h"
#include "runtime/testing/executable_builder.h"
#include "tests/fuzz/frames.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/require.h"

namespace tandem::fuzz {
namespace {

constexpr int64_t kRows = 1024, kRowBytes = 16;
constexpr size_t kBytes = kRows * kRowBytes;
const Shape kShape = {kRows, kRowBytes / 4};

std::string Sent() { return SentValueName(0, 0, "gradient"); }

// w = gradient.
std::shared_ptr<const Executable> Program() {
  ExecutableBuilder b(/*replicas=*/1, /*lanes=*/1, /*rows_per_lane=*/1, /*microbatch_rows=*/1);
  const int gradient = b.Variable(Sent(), kShape), w = b.Variable("w", kShape);
  const int rate = b.Scalar("learning_rate"), step = b.Scalar("global_step", DType::kInt64);
  const int rate_used = b.Step("rate", {}), step_used = b.Step("step", {}, DType::kInt64);
  b.Global();
  b.Copy(rate, rate_used);
  b.Copy(step, step_used);
  b.Copy(gradient, w);
  b.index().variables[0].updated = false;
  b.index().parameter_servers = 1;
  b.index().parameter_server = 0;
  auto program = Executable::Parse(BuildExecutable(b.Take(), {}));
  Require(program.ok(), "there is a program");
  return *std::move(program);
}

// One for all inputs: a chief's values are a new beginning, and take less time than a session of its own for each.
ServerState& Server() {
  static ServerState& server = *[] {
    ServerOptions options{.who = "ps 0"};
    options.variables = {{.name = "w", .dtype = DType::kFloat32, .shape = kShape}};
    options.scalar_defaults = {{"learning_rate", 0.1}, {"global_step", 0}};
    auto state = ServerState::Create(options, Program(), std::make_shared<ThreadPool>(1));
    Require(state.ok(), "there is a server");
    return state->release();
  }();
  return server;
}

void Describe(const std::string& name, parameters::Tensor* tensor) {
  tensor->set_name(name);
  tensor->set_dtype(static_cast<int>(DType::kFloat32));
  for (const int64_t size : kShape) tensor->add_shape(size);
}

// Rows of a tensor, or all of it, in the bytes of a message: what its definition says.
void Apply(const google::protobuf::RepeatedPtrField<parameters::Rows>& rows, const std::string& bytes,
           std::string& tensor) {
  if (rows.empty()) {
    Require(bytes.size() == kBytes, "a tensor has its bytes");
    tensor = bytes;
    return;
  }
  const auto count = static_cast<size_t>(rows[0].count());
  Require(rows.size() == 1 && bytes.size() == count * (sizeof(uint32_t) + kRowBytes), "rows have their bytes");
  for (size_t i = 0; i < count; ++i) {
    uint32_t row = 0;
    std::memcpy(&row, bytes.data() + i * sizeof(row), sizeof(row));
    tensor.replace(row * kRowBytes, kRowBytes, bytes, count * sizeof(row) + i * kRowBytes, kRowBytes);
  }
}

class Worker {
 public:
  Worker() {
    connection_ = server_.Connect([this](grpc::ByteBuffer answer) { answer_ = std::move(answer); });
    parameters::Request hello, assign;
    hello.mutable_hello()->set_protocol(kParameterProtocol);
    hello.mutable_hello()->set_who("chief");
    hello.mutable_hello()->add_reads("w");
    Describe(Sent(), hello.mutable_hello()->add_sent());
    Describe("w", assign.mutable_assign()->add_tensors());
    const ByteRange values{w_.data(), w_.size()};
    Require(Ask(FrameWithCopies(hello, {})) && Ask(FrameWithCopies(assign, {values})), "the server knows its worker");
  }
  ~Worker() { server_.Disconnect(connection_); }

  // Whether it was a step that the server has made.
  bool Say(const grpc::ByteBuffer& frame) {
    parameters::Request request;
    FrameReader tensors;
    if (!tensors.Open(frame, &request).ok()) return Ask(frame);
    // Other requests have a target of their own, and may wait.
    if (!request.has_exchange()) return false;
    std::string sent(tensors.left(), '\0');
    tensors.Read(sent.data(), sent.size());
    if (!Ask(frame)) return false;
    std::string gradient(kBytes, '\0');
    Apply(request.exchange().rows(), sent, gradient);
    Apply(reply_.rows(), received_, w_);
    Require(w_ == gradient, "the worker has what the server computes");
    return true;
  }

 private:
  // Whether there was an answer that is no failure.
  bool Ask(const grpc::ByteBuffer& frame) {
    answer_.reset();
    server_.Handle(connection_, frame);
    Require(answer_.has_value(), "a worker alone is answered at once");
    FrameReader tensors;
    Require(tensors.Open(*answer_, &reply_).ok(), "an answer is a frame");
    received_.resize(tensors.left());
    tensors.Read(received_.data(), received_.size());
    return !reply_.has_failure();
  }

  ServerState& server_ = Server();
  int64_t connection_ = 0;
  std::optional<grpc::ByteBuffer> answer_;
  parameters::Reply reply_;
  std::string received_;
  std::string w_ = std::string(kBytes, 'w');
};

std::string Frame(const parameters::Request& request, const std::string& tensors) {
  return WithLength(FrameWithCopies(request, {{tensors.data(), tensors.size()}}));
}

std::string RowsFrame(int64_t update, const RowNumbers& numbers) {
  parameters::Request request;
  parameters::Exchange* exchange = request.mutable_exchange();
  exchange->set_update(update);
  exchange->set_position("examples 8\n");
  parameters::Scalar* rate = exchange->add_scalars();
  rate->set_name("learning_rate");
  rate->set_number(0.5);
  parameters::Scalar* step = exchange->add_scalars();
  step->set_name("global_step");
  step->set_integer(update);
  std::list<std::string> packed;
  SendRows(0, std::string(kBytes, static_cast<char>('a' + update)).data(), {.rows = kRows, .row_bytes = kRowBytes},
           numbers, exchange->mutable_rows(), &packed);
  return Frame(request, packed.front());
}

}  // namespace

std::vector<std::string> Seeds() {
  parameters::Request whole;
  whole.mutable_exchange()->set_update(1);
  return {RowsFrame(1, {3, 700}), RowsFrame(1, {0, 1, kRows - 1}) + RowsFrame(2, {1, 2}) + RowsFrame(3, {}),
          Frame(whole, std::string(kBytes, 'g')) + RowsFrame(2, {5})};
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tandem::SetMinLogSeverity(tandem::LogSeverity::kError);
  tandem::fuzz::Worker worker;
  bool taken = false;
  tandem::fuzz::ForEachFrame(data, size, [&](const grpc::ByteBuffer& frame) { taken |= worker.Say(frame); });
  if (taken) tandem::fuzz::NoteAccepted();
  return 0;
}
