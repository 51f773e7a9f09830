// What workers send to a parameter server: frames, each behind its length in two bytes, from one connection. Every one
// is answered at most once, by a frame, and the server then takes a right conversation.
#include <string>
#include <vector>

#include "base/logging.h"
#include "estimator/parameter_server/frame.h"
#include "estimator/parameter_server/messages.pb.h"
#include "estimator/parameter_server/protocol.h"
#include "estimator/parameter_server/rows.h"
#include "estimator/parameter_server/server_state.h"
#include "tests/fuzz/frames.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/require.h"

namespace tandem::fuzz {
namespace {

std::unique_ptr<ServerState> NewState() {
  ServerOptions options{.who = "ps 0", .workers = 2};
  options.variables = {{.name = "w", .dtype = DType::kFloat32, .shape = {2}}, {.name = "b", .dtype = DType::kInt64}};
  auto state = ServerState::Create(options, /*program=*/nullptr, /*pool=*/nullptr);
  Require(state.ok(), "there is a server");
  return *std::move(state);
}

std::string Frame(const parameters::Request& request, const std::string& tensors = "") {
  const ByteRange bytes{tensors.data(), tensors.size()};
  return WithLength(FrameOf(request, {bytes}));
}

// What a chief says, of which a conversation is made.
std::vector<std::string> Conversation() {
  parameters::Request hello, assign, exchange, hold, read, at_end, catch_up, leave, stop, others_left, end;
  hello.mutable_hello()->set_protocol(kParameterProtocol);
  hello.mutable_hello()->set_who("chief");
  hello.mutable_hello()->add_reads("w");
  parameters::Tensor* w = assign.mutable_assign()->add_tensors();
  w->set_name("w");
  w->set_dtype(static_cast<int>(DType::kFloat32));
  w->add_shape(2);
  parameters::Tensor* b = assign.mutable_assign()->add_tensors();
  b->set_name("b");
  b->set_dtype(static_cast<int>(DType::kInt64));
  parameters::Scalar* rate = exchange.mutable_exchange()->add_scalars();
  rate->set_name("learning_rate");
  rate->set_number(0.5);
  exchange.mutable_exchange()->set_update(1);
  exchange.mutable_exchange()->set_position("examples 8\n");
  exchange.mutable_exchange()->set_next_too(true);
  hold.mutable_hold()->set_seconds(1);
  hold.mutable_hold()->set_positions(true);
  read.mutable_read()->add_names("b");
  read.mutable_read()->add_until()->set_updates(1);
  at_end.mutable_at_end()->set_without_absent(true);
  leave.mutable_leave()->set_training(1);
  stop.mutable_stop()->set_signal(true);
  others_left.mutable_others_left()->set_training(1);
  catch_up.mutable_catch_up()->set_seconds(1);
  end.mutable_end()->set_failure("none");
  return {Frame(hello),    Frame(assign, std::string(16, 'x')),
          Frame(exchange), Frame(hold),
          Frame(read),     Frame(at_end),
          Frame(catch_up), Frame(leave),
          Frame(stop),     Frame(others_left),
          Frame(end)};
}

// The answers to frames of one connection.
int Talk(ServerState& state, const std::string& bytes, int* errors) {
  int sent = 0, answers = 0;
  const int64_t connection = state.Connect([&](grpc::ByteBuffer answer) {
    parameters::Reply reply;
    Require(FrameReader().Open(answer, &reply).ok(), "an answer is a frame");
    ++answers;
    *errors += reply.has_failure() ? 1 : 0;
  });
  ForEachFrame(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), [&](const grpc::ByteBuffer& frame) {
    state.Handle(connection, frame);
    Require(answers <= ++sent, "a request is answered once");
  });
  state.Disconnect(connection);
  return answers;
}

// The same bytes as rows of a table: what is written lies in the table, and in the rows that are named.
void TakeAsRows(const std::string& bytes) {
  constexpr RowLayout kLayout{.rows = 40, .row_bytes = 16};
  const auto count = static_cast<int64_t>(bytes.size()) / static_cast<int64_t>(kLayout.packed_bytes(1));
  if (count > kLayout.rows) return;
  parameters::Request head;
  FrameReader reader;
  Require(reader.Open(FrameWithCopies(head, {{bytes.data(), bytes.size()}}), &head).ok(), "there is a frame");
  std::vector<char> table(kLayout.bytes(), 'u');
  RowNumbers numbers;
  if (!UnpackRows(reader, kLayout, count, table.data(), &numbers).ok()) {
    Require(table == std::vector<char>(kLayout.bytes(), 'u'), "damaged numbers write nothing");
    return;
  }
  Require(PackRows(table.data(), kLayout, numbers) == bytes.substr(0, kLayout.packed_bytes(count)),
          "the rows are there");
}

}  // namespace

std::vector<std::string> Seeds() {
  std::string all;
  std::vector<std::string> seeds = Conversation();
  for (const std::string& frame : seeds) all += frame;
  seeds.push_back(all);
  parameters::Request rows;
  rows.mutable_exchange()->add_rows()->set_count(2);
  seeds.push_back(seeds[0] + seeds[1] + Frame(rows, std::string(40, 'x')));
  seeds.push_back(PackRows(std::string(640, 'r').data(), {.rows = 40, .row_bytes = 16}, {1, 7, 39}));
  return seeds;
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tandem::fuzz::Require;
  tandem::SetMinLogSeverity(tandem::LogSeverity::kError);  // a line for every worker that is lost
  const auto state = tandem::fuzz::NewState();
  int errors = 0;
  const int answers = tandem::fuzz::Talk(*state, std::string(reinterpret_cast<const char*>(data), size), &errors);
  if (answers > errors) tandem::fuzz::NoteAccepted();
  tandem::fuzz::TakeAsRows(std::string(reinterpret_cast<const char*>(data), size));
  if (!state->failure().empty()) return 0;
  errors = 0;
  const std::vector<std::string> right = tandem::fuzz::Conversation();
  tandem::fuzz::Talk(*state, right[0] + right[1] + right[2] + right[3] + right[4], &errors);
  Require(errors == 0, "a right conversation is understood");
  return 0;
}
