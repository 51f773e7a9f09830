// What workers tell each other by their collectives, as the second of two hears it from the chief: texts, what a
// program has, a checkpoint, what they do between steps. An input is which of these, a byte, and the chief's bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/resource_errors.h"
#include "estimator/workers/agree_on_parts.h"
#include "estimator/workers/share_checkpoint.h"
#include "estimator/workers/worker_group.h"
#include "runtime/collectives/gather_texts.h"
#include "runtime/format/index.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/require.h"

namespace tandem::fuzz {
namespace {

// A group of two, of which only one is there: the chief, whose bytes are kept, or the other, which gets them.
class HalfOfAGroup : public ProcessGroup {
 public:
  HalfOfAGroup(int rank, std::string bytes) : rank_(rank), bytes_(std::move(bytes)) {}

  int rank() const override { return rank_; }
  int size() const override { return 2; }
  std::string transport() const override { return "memory"; }
  absl::Status AllGather(absl::Span<const std::byte> mine, absl::Span<std::byte> all, absl::string_view) override {
    Require(all.size() == 2 * mine.size(), "there are two ranks");
    std::copy(mine.begin(), mine.end(), all.begin() + static_cast<ptrdiff_t>(mine.size()));
    std::copy(mine.begin(), mine.end(), all.begin());
    return FromChief(all.first(mine.size()));
  }
  absl::Status Broadcast(absl::Span<std::byte> bytes, int, absl::string_view) override { return FromChief(bytes); }
  void Abort(const absl::Status&) override {}
  absl::Status status() const override { return absl::OkStatus(); }
  bool waits_for_network() const override { return false; }

  const std::string& bytes() const { return bytes_; }

 private:
  absl::Status FromChief(absl::Span<std::byte> bytes) {
    if (rank_ == 0) {
      bytes_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      return absl::OkStatus();
    }
    if (bytes.size() > bytes_.size() - at_) return absl::UnavailableError("the chief is lost");
    std::memcpy(bytes.data(), bytes_.data() + at_, bytes.size());
    at_ += bytes.size();
    return IsLengthOfNoInput(bytes) ? absl::UnavailableError("the chief is lost") : absl::OkStatus();
  }
  // One that can be, for which memory would be filled before it is found that the bytes are not there.
  static bool IsLengthOfNoInput(absl::Span<const std::byte> bytes) {
    constexpr uint64_t kMost = 1 << 20;
    uint64_t length = 0;
    if (bytes.size() != sizeof(length)) return false;
    std::memcpy(&length, bytes.data(), sizeof(length));
    return length > kMost && length <= kMaxTextBytes;
  }
  absl::Status DoAllReduce(format::ReduceKind, absl::Span<const Values>, absl::Span<const bool>, absl::string_view,
                           const ResultFn&) override {
    return absl::UnimplementedError("no values are reduced");
  }

  const int rank_;
  std::string bytes_;
  size_t at_ = 0;
};

enum Talk { kGather, kAgree, kParts, kCheckpoint, kMeet, kMeetAtEnd, kTalks };

CheckpointData SmallCheckpoint() {
  CheckpointData data;
  data.global_step = 17;
  data.seed = 3;
  data.iterator_state = "examples 8\n";
  data.extra = {{"best", "{\"loss\": 1}"}};
  data.variables["dense/kernel"] = HostTensor::FromVector<float>({2, 2}, {1, 2, 3, 4});
  data.variables["empty"] = HostTensor::Zeros(DType::kFloat32, {0, 3});
  data.slots["dense/kernel/Adam"] = HostTensor::FromVector<double>({1}, {0.5});
  return data;
}

absl::Status Share(WorkerGroup& workers) {
  std::optional<CheckpointData> data;
  if (workers.is_chief()) data = SmallCheckpoint();
  const auto shared = ShareCheckpoint(workers, std::move(data));
  if (!shared.ok() || !shared->has_value()) return shared.status();
  for (const TensorMap* tensors : {&(*shared)->variables, &(*shared)->slots}) {
    for (const auto& [name, tensor] : *tensors) {
      Require(tensor.status().ok() && tensor.dtype() != DType::kString, "a checkpoint has numbers");
      (void)tensor.Clone();
    }
  }
  return absl::OkStatus();
}

absl::Status Say(Talk talk, WorkerGroup& workers) {
  const std::string mine = workers.is_chief() ? "the chief's" : "the other's";
  switch (talk) {
    case kGather: {
      const auto all = workers.Gather(mine, "letters");
      if (all.ok()) Require(all->size() == 2 && all->at(workers.rank()) == mine, "each has its text");
      return all.status();
    }
    case kAgree:
      return workers.Agree("target", "cpu", "name one");
    case kParts:
      return AgreeOnParts(
          workers, "the program", mine,
          [&] {
            return NamedParts{{"batch", "8"}, {mine, "1"}, {"w", "[2]"}};
          },
          "name one");
    case kCheckpoint:
      return Share(workers);
    case kMeet:
      return workers.Meet(WorkerGroup::Wish::kStop, [] { return 7; }).status();
    default:
      return workers.MeetAtEnd();
  }
}

absl::Status Run(Talk talk, HalfOfAGroup* group) {
  WorkerGroup workers(group, {"the chief", "worker 1"});
  workers.set_on_evaluate([](uint64_t) { return absl::OkStatus(); });
  workers.set_on_save([] { return absl::OkStatus(); });
  return CatchResourceErrors("talking", [&] { return Say(talk, workers); });
}

}  // namespace

// What the chief says.
std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  for (int talk = 0; talk < kTalks; ++talk) {
    HalfOfAGroup chief(/*rank=*/0, "");
    (void)Run(static_cast<Talk>(talk), &chief);
    seeds.push_back(static_cast<char>(talk) + chief.bytes());
  }
  return seeds;
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  tandem::fuzz::HalfOfAGroup group(/*rank=*/1, std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  const auto talk = static_cast<tandem::fuzz::Talk>(data[0] % tandem::fuzz::kTalks);
  const absl::Status status = tandem::fuzz::Run(talk, &group);
  // The programs differ: that is what AgreeOnParts is to find.
  const bool told = talk == tandem::fuzz::kParts && absl::IsInvalidArgument(status);
  if (status.ok() || told) tandem::fuzz::NoteAccepted();
  return 0;
}
