// The saved position of an input pipeline, behind a right checksum: the first byte chooses the pipeline. Between them
// they have every stage that keeps a position of its own.
#include "base/fingerprint.h"
#include "base/logging.h"
#include "data/dataset.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/require.h"

namespace tandem::fuzz {
namespace {

constexpr size_t kChecksumBytes = 8;

int64_t Number(const Element& element) { return element.components[0].data<int64_t>()[0]; }

Element ElementOf(int64_t number) { return {.components = {HostTensor::Scalar<int64_t>(number)}}; }

const std::vector<ComponentSpec>& NumberSpec() {
  static const auto* spec = new std::vector<ComponentSpec>{{"value", DType::kInt64, {}}};
  return *spec;
}

absl::StatusOr<bool> IsNoMultipleOfThree(const Element& element) { return Number(element) % 3 != 0; }
absl::StatusOr<std::string> LastDigit(const Element& element) { return std::to_string(Number(element) % 10); }
absl::StatusOr<Dataset> UpTo(const Element& element) { return Dataset::Range(Number(element) % 4); }

absl::StatusOr<Element> Same(const Element& element) { return element; }

absl::StatusOr<Element> FailAtSeven(const Element& element) {
  if (Number(element) == 7) return absl::DataLossError("seven");
  return element;
}

absl::StatusOr<Element> AddUp(const Element& state, const Element& element, Element* next) {
  *next =
      ElementOf(static_cast<int64_t>(static_cast<uint64_t>(Number(state)) + static_cast<uint64_t>(Number(element))));
  return *next;
}

absl::Status Count(int64_t* position, Element* out, bool* end) {
  *end = *position < 0 || *position >= 12;
  if (!*end) *out = ElementOf((*position)++);
  return absl::OkStatus();
}

std::vector<Dataset> MakePipelines() {
  static auto* text = new MemoryFile;
  text->Set("one\ntwo\n\nfour\nfive\nsix");
  const Dataset numbers = Dataset::Range(30);
  return {
      numbers.Skip(2).Shuffle(8).Repeat(3).Batch(4).Shuffle(3),
      numbers.Window({.size = 3, .shift = 2, .stride = 2}).Repeat(2).Prefetch(2),
      numbers.Interleave(UpTo, {.cycle_length = 3, .block_length = 2}).Batch(3).Repeat(2),
      numbers.FlatMap(UpTo).Shuffle(5).Take(17),
      numbers.Filter(IsNoMultipleOfThree).Dedupe(LastDigit).Enumerate().Repeat(2),
      Dataset::Zip({numbers, numbers.Shuffle(4).Map(Same, {.names = {"other"}})})
          .TakeWhile(IsNoMultipleOfThree)
          .Repeat(2),
      numbers.Scan(ElementOf(1), AddUp, NumberSpec()).Repeat(2).Batch(2),
      Dataset::FromGenerator(Count, NumberSpec()).Repeat(2),
      Dataset::TextLine({text->path(), text->path()}).Repeat(2),
      Dataset::FixedLengthRecord({text->path()}, {.record_bytes = 4, .header_bytes = 1, .footer_bytes = 1}).Repeat(2),
      numbers.Map(FailAtSeven).IgnoreErrors({.max = 3}).Cache().Shuffle(4).Repeat(2),
      numbers.Concatenate(numbers.Skip(20)).Batch(4).Unbatch().Shard(2, 1),
      numbers.PaddedBatch(4).Repeat(2),
      numbers.BucketBySequenceLength([](const Element& e) -> absl::StatusOr<int64_t> { return Number(e) % 5; }, {2, 4},
                                     {2, 3, 4}),
      numbers.Shuffle(6).Batch(5).Parts(3).Repeat(2),
      numbers.PaddedBatch(5).Parts(3).Shuffle(2),
  };
}

const std::vector<Dataset>& Pipelines() {
  static const auto* pipelines = new std::vector<Dataset>(MakePipelines());
  return *pipelines;
}

}  // namespace

// Without their checksums.
std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  for (size_t p = 0; p < Pipelines().size(); ++p) {
    auto iterator = Pipelines()[p].MakeIterator();
    Require(iterator.ok(), iterator.ok() ? "" : iterator.status().ToString().c_str());
    for (int i = 0; i < 20; ++i) {
      const auto state = (*iterator)->SaveState();
      Require(state.ok(), "a position is saved");
      if (i % 4 == 0) {
        seeds.push_back(static_cast<char>(p) + state->substr(0, state->size() - kChecksumBytes));
      }
      Element element;
      bool end = false;
      (*iterator)->GetNext(&element, &end).IgnoreError();
    }
  }
  return seeds;
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tandem::fuzz::Require;
  tandem::SetMinLogSeverity(tandem::LogSeverity::kError);  // a line for every error that is ignored
  const std::vector<tandem::Dataset>& pipelines = tandem::fuzz::Pipelines();
  if (size == 0) return 0;
  std::string state(reinterpret_cast<const char*>(data) + 1, size - 1);
  const uint64_t checksum = tandem::Fingerprint64(state);
  for (size_t i = 0; i < tandem::fuzz::kChecksumBytes; ++i) state.push_back(static_cast<char>(checksum >> (8 * i)));
  auto iterator = pipelines[data[0] % pipelines.size()].MakeIterator();
  if (!iterator.ok() || !(*iterator)->RestoreState(state).ok()) return 0;
  tandem::fuzz::NoteAccepted();
  bool end = false;
  for (int i = 0; i < 40 && !end; ++i) {
    tandem::Element element;
    if (!(*iterator)->GetNext(&element, &end).ok()) break;
  }
  const auto saved = (*iterator)->SaveState();
  if (!saved.ok()) return 0;
  auto again = pipelines[data[0] % pipelines.size()].MakeIterator();
  Require((*again)->RestoreState(*saved).ok(), "a position that was saved is restored");
  return 0;
}
