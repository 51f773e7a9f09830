#include "estimator/parameter_server/rows.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"

namespace tandem {
namespace {

constexpr int64_t kMinBytes = 16 << 10;  // bytes; smaller tensors are sent whole
constexpr int64_t kMinRowBytes = 16;

bool IsZero(const char* row, int64_t bytes) {
  uint64_t word = 0;
  for (; bytes >= static_cast<int64_t>(sizeof(word)); row += sizeof(word), bytes -= sizeof(word)) {
    std::memcpy(&word, row, sizeof(word));
    if (word != 0) return false;
  }
  return std::all_of(row, row + bytes, [](char c) { return c == 0; });
}

// Returns the numbers of the rows for which `chosen` is true; nothing if there are so many that sending the whole
// tensor is better.
template <typename F>
std::optional<RowNumbers> Choose(const RowLayout& layout, F chosen) {
  RowNumbers numbers;
  for (int64_t row = 0; row < layout.rows; ++row) {
    if (!chosen(row)) continue;
    numbers.push_back(static_cast<uint32_t>(row));
    if (!layout.IsWorth(static_cast<int64_t>(numbers.size()))) return std::nullopt;
  }
  return numbers;
}

}  // namespace

RowLayout RowLayoutOf(DType dtype, const Shape& shape) {
  if (shape.size() < 2 || shape[0] < 2 || shape[0] > std::numeric_limits<uint32_t>::max()) return {};
  const int64_t row_bytes = NumElements(Shape(shape.begin() + 1, shape.end())) * static_cast<int64_t>(SizeOf(dtype));
  if (row_bytes < kMinRowBytes || row_bytes * shape[0] < kMinBytes) return {};
  return {.rows = shape[0], .row_bytes = row_bytes};
}

std::optional<RowNumbers> NonZeroRows(const void* tensor, const RowLayout& layout) {
  if (layout.rows == 0) return std::nullopt;
  const char* const first = static_cast<const char*>(tensor);
  return Choose(layout, [&](int64_t row) { return !IsZero(first + row * layout.row_bytes, layout.row_bytes); });
}

std::string PackRows(const void* tensor, const RowLayout& layout, const RowNumbers& numbers) {
  std::string packed(layout.packed_bytes(static_cast<int64_t>(numbers.size())), '\0');
  if (numbers.empty()) return packed;
  char* to = packed.data();
  std::memcpy(to, numbers.data(), numbers.size() * sizeof(uint32_t));
  to += numbers.size() * sizeof(uint32_t);
  for (const uint32_t number : numbers) {
    std::memcpy(to, static_cast<const char*>(tensor) + number * layout.row_bytes, layout.row_bytes);
    to += layout.row_bytes;
  }
  return packed;
}

ByteRange SendRows(int64_t tensor, const void* values, const RowLayout& layout, const RowNumbers& numbers,
                   google::protobuf::RepeatedPtrField<parameters::Rows>* heads, std::list<std::string>* packed) {
  parameters::Rows* head = heads->Add();
  head->set_tensor(tensor);
  head->set_count(static_cast<int64_t>(numbers.size()));
  packed->push_back(PackRows(values, layout, numbers));
  return {packed->back().data(), packed->back().size()};
}

absl::Status UnpackRows(FrameReader& reader, const RowLayout& layout, int64_t count, void* tensor,
                        RowNumbers* numbers) {
  numbers->resize(static_cast<size_t>(count));
  reader.Read(numbers->data(), numbers->size() * sizeof(uint32_t));
  int64_t last = -1;
  for (const uint32_t number : *numbers) {
    if (number <= last || number >= layout.rows) {
      return absl::InvalidArgumentError(
          absl::StrCat("row ", number, " behind row ", last, " of a tensor of ", layout.rows, " rows"));
    }
    last = number;
  }
  for (const uint32_t number : *numbers) {
    reader.Read(static_cast<char*>(tensor) + number * layout.row_bytes, layout.row_bytes);
  }
  return absl::OkStatus();
}

RowVersions::RowVersions(const void* tensor, const RowLayout& layout, int64_t version)
    : layout_(layout),
      copy_(static_cast<const char*>(tensor), static_cast<const char*>(tensor) + layout.bytes()),
      changed_(static_cast<size_t>(layout.rows), version) {}

void RowVersions::Update(const void* tensor, int64_t version) {
  for (int64_t row = 0; row < layout_.rows; ++row) {
    const char* const now = static_cast<const char*>(tensor) + row * layout_.row_bytes;
    char* const before = copy_.data() + row * layout_.row_bytes;
    if (std::memcmp(now, before, layout_.row_bytes) == 0) continue;
    std::memcpy(before, now, layout_.row_bytes);
    changed_[row] = version;
  }
}

std::optional<RowNumbers> RowVersions::ChangedAfter(int64_t version) const {
  return Choose(layout_, [&](int64_t row) { return changed_[row] > version; });
}

}  // namespace tandem
