#include "data/files/element_codec.h"

#include <cstring>
#include <utility>
#include <vector>

#include "base/element_count.h"

namespace tandem {
namespace {

constexpr int64_t kMaxRank = 64;

void AppendNumber(int64_t value, std::string* out) {
  // No byte swap: Tandem runs on little-endian machines only.
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}

bool ReadNumber(absl::string_view* bytes, int64_t* value) {
  if (bytes->size() < sizeof *value) return false;
  std::memcpy(value, bytes->data(), sizeof *value);
  bytes->remove_prefix(sizeof *value);
  return *value >= 0;
}

bool ReadStrings(absl::string_view* bytes, Shape shape, int64_t count, HostTensor* out) {
  std::vector<int64_t> sizes(count);
  for (int64_t& size : sizes) {
    if (!ReadNumber(bytes, &size)) return false;
  }
  std::vector<absl::string_view> strings;
  for (const int64_t size : sizes) {
    if (size > static_cast<int64_t>(bytes->size())) return false;
    strings.push_back(bytes->substr(0, size));
    bytes->remove_prefix(size);
  }
  *out = HostTensor::FromStrings(std::move(shape), absl::MakeConstSpan(strings));
  return true;
}

bool ReadTensor(absl::string_view* bytes, HostTensor* out) {
  int64_t type = 0, rank = 0;
  if (!ReadNumber(bytes, &type) || !ReadNumber(bytes, &rank) || rank > kMaxRank) return false;
  Shape shape(rank);
  for (int64_t& size : shape) {
    if (!ReadNumber(bytes, &size)) return false;
  }
  const int64_t count = CheckedNumElements(shape), left = static_cast<int64_t>(bytes->size());
  const bool is_string = type == static_cast<int64_t>(DType::kString);
  if (count < 0 || type < 1 || type > static_cast<int64_t>(DType::kString)) return false;
  const DType dtype = static_cast<DType>(type);
  const int64_t each = is_string ? 8 : SizeOf(dtype);
  if (dtype == DType::kBFloat16 || count > left / each) return false;
  if (is_string) return ReadStrings(bytes, std::move(shape), count, out);
  *out = HostTensor(dtype, std::move(shape));
  if (!out->status().ok()) return false;
  if (count > 0) std::memcpy(out->raw(), bytes->data(), count * each);
  bytes->remove_prefix(count * each);
  return true;
}

}  // namespace

void AppendElement(const Element& element, std::string* out) {
  AppendNumber(static_cast<int64_t>(element.components.size()), out);
  for (const HostTensor& t : element.components) {
    AppendNumber(static_cast<int64_t>(t.dtype()), out);
    AppendNumber(t.rank(), out);
    for (const int64_t size : t.shape()) AppendNumber(size, out);
    if (t.dtype() != DType::kString) {
      if (t.byte_size() > 0) out->append(static_cast<const char*>(t.raw()), t.byte_size());
      continue;
    }
    for (int64_t i = 0; i < t.num_elements(); ++i) AppendNumber(static_cast<int64_t>(t.string(i).size()), out);
    for (int64_t i = 0; i < t.num_elements(); ++i) out->append(t.string(i).data(), t.string(i).size());
  }
}

bool ParseElement(absl::string_view bytes, Element* out) {
  int64_t components = 0;
  if (!ReadNumber(&bytes, &components) || components > static_cast<int64_t>(bytes.size())) return false;
  out->components.clear();
  for (int64_t c = 0; c < components; ++c) {
    HostTensor t;
    if (!ReadTensor(&bytes, &t)) return false;
    out->components.push_back(std::move(t));
  }
  return bytes.empty();
}

}  // namespace tandem
