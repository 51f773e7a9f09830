#include "estimator/record/step_bits.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace tandem {
namespace {

// The number of bytes sampled from a row of a batch, the largest number of sampled rows, the number of bytes in a
// sample of a variable, and the number of such samples.
constexpr int64_t kRowBytes = 64;
constexpr int64_t kMostRows = 256;
constexpr int64_t kVariableBytes = 32;
constexpr int64_t kVariablePlaces = 16;

// A hash by a chain of multiplications, which is as fast as memory for samples of this size.
class SampleHash {
 public:
  void Add(const char* bytes, int64_t size) {
    for (; size >= 8; bytes += 8, size -= 8) {
      uint64_t word;
      std::memcpy(&word, bytes, 8);
      Mix(word);
    }
    uint64_t rest = 0;
    std::memcpy(&rest, bytes, static_cast<size_t>(size));
    Mix(rest ^ (static_cast<uint64_t>(size) << 56));
  }
  uint16_t Folded() const {
    const uint64_t folded = state_ ^ (state_ >> 32);
    return static_cast<uint16_t>(folded ^ (folded >> 16));
  }

 private:
  void Mix(uint64_t word) {
    state_ = (state_ ^ word) * 0x9e3779b97f4a7c15u;
    state_ ^= state_ >> 29;
  }
  uint64_t state_ = 0x2545f4914f6cdd1du;
};

// Returns where in `size` bytes a sample of `length` bytes begins: a multiple of 8, different for each number.
int64_t PlaceOf(uint64_t number, int64_t size, int64_t length) {
  if (size <= length) return 0;
  const auto places = static_cast<uint64_t>((size - length) / 8 + 1);
  return static_cast<int64_t>(number * 0x9e3779b97f4a7c15u % places) * 8;
}

}  // namespace

uint64_t StepBits::Word() const {
  uint32_t bits;
  std::memcpy(&bits, &loss, sizeof(bits));
  return bits | (static_cast<uint64_t>(input) << 32) | (static_cast<uint64_t>(variables) << 48);
}

StepBits StepBits::OfWord(uint64_t word) {
  StepBits step{.input = static_cast<uint16_t>(word >> 32), .variables = static_cast<uint16_t>(word >> 48)};
  const auto bits = static_cast<uint32_t>(word);
  std::memcpy(&step.loss, &bits, sizeof(bits));
  return step;
}

std::string StepBits::Differences(const StepBits& other) const {
  std::vector<std::string> parts;
  if (std::memcmp(&loss, &other.loss, sizeof(loss)) != 0) {
    parts.push_back(absl::StrFormat("the loss (%.9g against %.9g)", loss, other.loss));
  }
  if (input != other.input) parts.push_back("the input");
  if (variables != other.variables) parts.push_back("the variables behind it");
  return absl::StrJoin(parts, " and ");
}

StepSampler::StepSampler(const VariableStore& store, const std::vector<VariableSpec>& variables) {
  if (!store.place().empty()) return;
  std::map<std::string, Values> by_name;
  for (const VariableSpec& v : variables) {
    int64_t size = SizeOf(v.dtype);
    for (const int64_t d : v.shape) size *= d;
    const auto* bytes = static_cast<const char*>(store.Buffer(v.name, 0));
    if (bytes != nullptr && size > 0) by_name[v.name] = {bytes, size};
  }
  for (const auto& entry : by_name) variables_.push_back(entry.second);
}

uint16_t StepSampler::OfInput(const BatchRound& round, int64_t step) const {
  SampleHash hash;
  if (round.replicas.empty()) return 0;
  for (const HostTensor& component : round.replicas[0]) {
    const int64_t rows = component.rank() > 0 ? component.shape()[0] : 0;
    if (rows == 0 || component.dtype() == DType::kString) continue;
    const auto* bytes = static_cast<const char*>(component.raw());
    const int64_t row_bytes = component.byte_size() / rows, sample = std::min(row_bytes, kRowBytes);
    for (int64_t row = 0; row < std::min(rows, kMostRows); ++row) {
      const auto number = static_cast<uint64_t>(step) * kMostRows + static_cast<uint64_t>(row);
      hash.Add(bytes + row * row_bytes + PlaceOf(number, row_bytes, sample), sample);
    }
  }
  return hash.Folded();
}

uint16_t StepSampler::OfVariables(int64_t step) const {
  SampleHash hash;
  if (variables_.empty()) return 0;
  for (int64_t i = 0; i < kVariablePlaces; ++i) {
    const auto number = static_cast<uint64_t>(step) * kVariablePlaces + static_cast<uint64_t>(i);
    const Values& values = variables_[number % variables_.size()];
    const int64_t sample = std::min(values.size, kVariableBytes);
    hash.Add(values.bytes + PlaceOf(number, values.size, sample), sample);
  }
  return hash.Folded();
}

}  // namespace tandem
