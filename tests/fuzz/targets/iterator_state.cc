// The saved position of an input pipeline, behind a right checksum.
#include "base/fingerprint.h"
#include "data/dataset.h"
#include "tests/fuzz/fuzz_target.h"

namespace tandem::fuzz {
namespace {

constexpr size_t kChecksumBytes = 8;

const Dataset& Pipeline() {
  static const auto* dataset = new Dataset(Dataset::Range(30).Skip(2).Shuffle(8).Repeat(3).Batch(4).Shuffle(3));
  return *dataset;
}

}  // namespace

// Without their checksums.
std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  auto iterator = Pipeline().MakeIterator();
  for (int i = 0; iterator.ok() && i < 20; ++i) {
    if (auto state = (*iterator)->SaveState(); state.ok() && i % 4 == 0) {
      seeds.push_back(state->substr(0, state->size() - kChecksumBytes));
    }
    Element element;
    bool end = false;
    if (!(*iterator)->GetNext(&element, &end).ok()) break;
  }
  return seeds;
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string state(reinterpret_cast<const char*>(data), size);
  const uint64_t checksum = tandem::Fingerprint64(state);
  for (size_t i = 0; i < tandem::fuzz::kChecksumBytes; ++i) state.push_back(static_cast<char>(checksum >> (8 * i)));
  auto iterator = tandem::fuzz::Pipeline().MakeIterator();
  if (!iterator.ok() || !(*iterator)->RestoreState(state).ok()) return 0;
  tandem::fuzz::NoteAccepted();
  bool end = false;
  for (int i = 0; i < 40 && !end; ++i) {
    tandem::Element element;
    if (!(*iterator)->GetNext(&element, &end).ok()) break;
  }
  return 0;
}
