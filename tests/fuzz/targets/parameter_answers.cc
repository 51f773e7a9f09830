// What a parameter server answers a worker: frames, each behind its length in two bytes. Values land in the worker's
// store where they belong, or nowhere.
#include <cstdint>
#include <cstring>
#include <list>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "cluster/wire.h"
#include "estimator/parameter_server/frame.h"
#include "estimator/parameter_server/messages.pb.h"
#include "estimator/parameter_server/part_values.h"
#include "estimator/parameter_server/rows.h"
#include "runtime/variables/variable_store.h"
#include "tests/fuzz/frames.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/require.h"

namespace tandem::fuzz {
namespace {

// The last rows of a table, and a bias.
constexpr int64_t kOthers = 4, kRows = 1024, kRowBytes = 16;
constexpr size_t kBefore = kOthers * kRowBytes, kPart = kRows * kRowBytes, kBias = 8;
constexpr int kCopies = 2;
const char* const kNames[] = {"bias", "table"};

const std::vector<PlacedPart>& Parts() {
  static const auto& parts = *new std::vector<PlacedPart>{
      {.variable = "table", .server = 1, .first_row = kOthers, .rows = kRows}, {.variable = "bias", .server = 1}};
  return parts;
}

// One for all inputs, which takes less time than new memory for each.
VariableStore& Store() {
  static auto& store = *new VariableStore(kCopies);
  if (store.List().empty()) {
    Require(store.Create({.name = "bias", .dtype = DType::kInt64, .shape = {1}}).ok() &&
                store.Create({.name = "table", .dtype = DType::kFloat32, .shape = {kOthers + kRows, 4}}).ok(),
            "there is a store");
  }
  return store;
}

class Worker {
 public:
  Worker() {
    for (int i = 0; i < 2; ++i) {
      for (int copy = 0; copy < kCopies; ++copy) {
        std::memset(store_.Buffer(kNames[i], copy), 0, expected_[i].size());
      }
    }
  }

  // Whether there were values in it.
  bool Take(const grpc::ByteBuffer& frame) {
    parameters::Reply reply;
    FrameReader tensors;
    if (!tensors.Open(frame, &reply).ok()) return false;
    if (reply.has_failure()) {
      const int exit_code = ExitCodeFor(ToStatus(reply.failure()));
      Require(exit_code >= 0 && exit_code < 256, "a failure has an exit code");
      return false;
    }
    std::string bytes(tensors.left(), '\0');
    FrameReader again = tensors;
    again.Read(bytes.data(), bytes.size());
    const absl::Status status = WriteParts(Parts(), reply.rows(), tensors, store_);
    if (status.ok()) {
      Expect(reply, bytes);
    } else if (absl::IsInvalidArgument(status)) {
      Forget();  // the parts before the damaged one
    }
    for (int i = 0; i < 2; ++i) {
      for (int copy = 0; copy < kCopies; ++copy) {
        Require(std::memcmp(store_.Buffer(kNames[i], copy), expected_[i].data(), expected_[i].size()) == 0,
                "the store has the values");
      }
    }
    return status.ok();
  }

 private:
  // What the messages' definition says of them, read without the store's code.
  void Expect(const parameters::Reply& reply, const std::string& bytes) {
    size_t at = 0;
    std::string& table = expected_[1];
    if (reply.rows_size() == 0) {
      table.replace(kBefore, kPart, bytes, 0, kPart);
      at = kPart;
    } else {
      Require(reply.rows_size() == 1 && reply.rows(0).tensor() == 0, "only the table has rows");
      const auto count = static_cast<size_t>(reply.rows(0).count());
      for (size_t i = 0; i < count; ++i) {
        uint32_t row = 0;
        std::memcpy(&row, bytes.data() + i * sizeof(row), sizeof(row));
        Require(row < kRows, "a row is one of the part");
        table.replace(kBefore + row * kRowBytes, kRowBytes, bytes, count * sizeof(row) + i * kRowBytes, kRowBytes);
      }
      at = count * (sizeof(uint32_t) + kRowBytes);
    }
    Require(bytes.size() == at + kBias, "all bytes are values");
    expected_[0] = bytes.substr(at);
  }

  void Forget() {
    for (int i = 0; i < 2; ++i) {
      expected_[i].assign(static_cast<const char*>(store_.Buffer(kNames[i], 0)), expected_[i].size());
    }
    Require(expected_[1].substr(0, kBefore) == std::string(kBefore, '\0'), "rows of another server stay");
  }

  VariableStore& store_ = Store();
  std::string expected_[2] = {std::string(kBias, '\0'), std::string(kBefore + kPart, '\0')};
};

std::string Frame(const parameters::Reply& reply, const std::string& tensors = "") {
  return WithLength(FrameWithCopies(reply, {{tensors.data(), tensors.size()}}));
}

}  // namespace

std::vector<std::string> Seeds() {
  parameters::Reply welcome, whole, rows, progress, failure;
  welcome.set_step(3);
  welcome.mutable_welcome()->set_who("ps 1 at host, pid 7");
  welcome.mutable_welcome()->set_has_values(true);
  for (const PlacedPart& part : Parts()) welcome.mutable_welcome()->add_updated(part.name());
  whole.set_step(4);
  rows.set_step(5);
  rows.mutable_stop()->set_signal(true);
  std::list<std::string> packed;
  SendRows(0, std::string(kPart, 'r').data(), {.rows = kRows, .row_bytes = kRowBytes}, {3, 700, kRows - 1},
           rows.mutable_rows(), &packed);
  parameters::Progress* worker = progress.add_workers();
  worker->set_rank(1);
  worker->set_updates(9);
  worker->set_position("examples 72\n");
  ToMessage(absl::AbortedError("the chief has ended the training"), failure.mutable_failure());
  const std::string with_rows = Frame(rows, packed.front() + std::string(kBias, 'b'));
  return {Frame(welcome) + Frame(whole, std::string(kPart, 't') + std::string(kBias, 'a')) + with_rows,
          with_rows + with_rows, with_rows, Frame(progress) + Frame(failure)};
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tandem::fuzz::Worker worker;
  bool taken = false;
  tandem::fuzz::ForEachFrame(data, size, [&](const grpc::ByteBuffer& frame) { taken |= worker.Take(frame); });
  if (taken) tandem::fuzz::NoteAccepted();
  return 0;
}
