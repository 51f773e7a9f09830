#include "data/files/example_values.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/element_count.h"
#include "base/printable.h"
#include "base/status_macros.h"

namespace tandem::example_internal {
namespace {

using wire::Reader;
using wire::Type;

absl::string_view KindName(uint32_t kind) {
  return kind == kBytes ? "bytes_list" : kind == kFloat ? "float_list" : kind == kInt64 ? "int64_list" : "nothing";
}

uint32_t KindOf(DType dtype) { return dtype == DType::kString ? kBytes : dtype == DType::kFloat32 ? kFloat : kInt64; }

// Passes the values to `take`, several at a time as the list packs them. Returns false if the list is malformed.
template <typename Take>
bool ReadFloats(absl::string_view list, const Take& take) {
  Reader reader(list);
  while (!reader.done()) {
    uint32_t field = 0;
    Type type = Type::kVarint;
    absl::string_view bytes;
    if (!reader.ReadTag(&field, &type)) return false;
    if (field == kListValue && type == Type::kBytes) {
      if (!reader.ReadBytes(&bytes) || bytes.size() % sizeof(float) != 0) return false;
      take(bytes);
    } else if (field == kListValue && type == Type::kFixed32) {
      if (!reader.ReadFixed32(&bytes)) return false;
      take(bytes);
    } else if (!reader.Skip(type)) {
      return false;
    }
  }
  return true;
}

template <typename Take>
bool ReadInt64s(absl::string_view list, const Take& take) {
  Reader reader(list);
  while (!reader.done()) {
    uint32_t field = 0;
    Type type = Type::kVarint;
    uint64_t value = 0;
    if (!reader.ReadTag(&field, &type)) return false;
    if (field == kListValue && type == Type::kBytes) {
      absl::string_view bytes;
      if (!reader.ReadBytes(&bytes)) return false;
      Reader packed(bytes);
      while (!packed.done()) {
        if (!packed.ReadVarint(&value)) return false;
        take(static_cast<int64_t>(value));
      }
    } else if (field == kListValue && type == Type::kVarint) {
      if (!reader.ReadVarint(&value)) return false;
      take(static_cast<int64_t>(value));
    } else if (!reader.Skip(type)) {
      return false;
    }
  }
  return true;
}

// Reads the values of a feature. Stores numbers as long as there is room for them, but counts all values.
class Values {
 public:
  // There is room for `room` numbers at `to`; strings are appended to *strings.
  Values(DType dtype, void* to, int64_t room, std::vector<absl::string_view>* strings)
      : dtype_(dtype), to_(static_cast<uint8_t*>(to)), room_(room), strings_(strings) {}

  bool Read(const Lists& lists) {
    if (!ReadList(lists.first)) return false;
    for (absl::string_view list : lists.more) {
      if (!ReadList(list)) return false;
    }
    return true;
  }
  int64_t count() const { return count_; }

 private:
  bool ReadList(absl::string_view list) {
    if (dtype_ == DType::kFloat32) {
      return ReadFloats(list, [&](absl::string_view bytes) {
        const int64_t n = static_cast<int64_t>(bytes.size() / sizeof(float));
        if (n > 0 && count_ + n <= room_) std::memcpy(to_ + count_ * sizeof(float), bytes.data(), bytes.size());
        count_ += n;
      });
    }
    if (dtype_ == DType::kInt64) {
      return ReadInt64s(list, [&](int64_t value) {
        if (count_ < room_) std::memcpy(to_ + count_ * sizeof(int64_t), &value, sizeof(int64_t));
        ++count_;
      });
    }
    int64_t position = 0;
    return ForEachBytes(list, kListValue, &position, [&](absl::string_view value) {
      strings_->push_back(value);
      ++count_;
      return true;
    });
  }

  const DType dtype_;
  uint8_t* const to_;
  const int64_t room_;
  int64_t count_ = 0;
  std::vector<absl::string_view>* const strings_;
};

absl::Status WrongKind(const FeatureSpec& spec, uint32_t found) {
  return RecordError(spec, absl::StrCat("holds a ", KindName(found), " where a ", KindName(KindOf(spec.dtype)), " (",
                                        Name(spec.dtype), ") is expected"));
}

// Copies the first `count` elements of a default value to `to`; if it has only one element, copies that `count` times.
void CopyDefault(const HostTensor& value, int64_t count, uint8_t* to) {
  const int64_t size = SizeOf(value.dtype());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t from = value.num_elements() == 1 ? 0 : i;
    std::memcpy(to + i * size, static_cast<const uint8_t*>(value.raw()) + from * size, size);
  }
}

}  // namespace

absl::Status Malformed(absl::string_view what, int64_t position) {
  return absl::DataLossError(absl::StrCat("the record is no Example: ", what, " is malformed at its byte ", position));
}

absl::Status FindLists(absl::string_view feature, Lists* lists) {
  Reader reader(feature);
  while (!reader.done()) {
    uint32_t field = 0;
    Type type = Type::kVarint;
    const int64_t at = reader.position();
    if (!reader.ReadTag(&field, &type)) return Malformed("a feature", at);
    if (type != Type::kBytes || field < kBytes || field > kInt64) {
      if (!reader.Skip(type)) return Malformed("a feature", at);
      continue;
    }
    absl::string_view list;
    if (!reader.ReadBytes(&list)) return Malformed("a feature", at);
    if (field == lists->kind) {
      lists->more.push_back(list);
    } else {
      lists->kind = field;
      lists->first = list;
      lists->more.clear();
    }
  }
  return absl::OkStatus();
}

absl::Status CountValues(const Lists& lists, DType* dtype, int64_t* count) {
  *dtype = lists.kind == kBytes ? DType::kString : lists.kind == kFloat ? DType::kFloat32 : DType::kInt64;
  std::vector<absl::string_view> strings;
  Values values(*dtype, nullptr, 0, &strings);
  if (!values.Read(lists)) return Malformed("a feature", 0);
  *count = values.count();
  return absl::OkStatus();
}

absl::Status KeyError(const FeatureSpec& spec, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("feature '", PrintableLine(spec.key), "' ", what));
}

absl::Status RecordError(const FeatureSpec& spec, absl::string_view what) {
  return absl::DataLossError(KeyError(spec, what).message());
}

Shape WithRows(int64_t rows, const Shape& shape) {
  Shape out = {rows};
  out.insert(out.end(), shape.begin(), shape.end());
  return out;
}

absl::StatusOr<HostTensor> ReadFixed(const FeatureSpec& spec, absl::Span<const absl::string_view> found, Shape shape,
                                     int64_t* bad_row) {
  const int64_t width = NumElements(spec.shape);
  const bool is_string = spec.dtype == DType::kString;
  HostTensor out = is_string ? HostTensor() : HostTensor(spec.dtype, shape);
  TD_RETURN_IF_ERROR(out.status());
  std::vector<absl::string_view> strings;
  uint8_t* to = static_cast<uint8_t*>(out.raw());
  for (size_t row = 0; row < found.size(); ++row, to += width * SizeOf(spec.dtype)) {
    *bad_row = static_cast<int64_t>(row);
    Lists lists;
    TD_RETURN_IF_ERROR(FindLists(found[row], &lists));
    if (lists.kind == 0) {
      if (spec.default_value.empty()) {
        return KeyError(spec, "is absent and has no default; it is required to be a fixed length");
      }
      for (int64_t i = 0; is_string && i < width; ++i) {
        strings.push_back(spec.default_value.string(spec.default_value.num_elements() == 1 ? 0 : i));
      }
      if (!is_string) CopyDefault(spec.default_value, width, to);
      continue;
    }
    if (lists.kind != KindOf(spec.dtype)) return WrongKind(spec, lists.kind);
    Values values(spec.dtype, to, width, &strings);
    if (!values.Read(lists)) return RecordError(spec, absl::StrCat("has a malformed ", KindName(lists.kind)));
    if (values.count() != width) {
      return RecordError(spec, absl::StrCat("has ", values.count(), " values where the shape ", ShapeString(spec.shape),
                                            " needs ", width));
    }
  }
  return is_string ? HostTensor::FromStrings(std::move(shape), absl::MakeConstSpan(strings)) : out;
}

absl::StatusOr<HostTensor> ReadVariable(const FeatureSpec& spec, absl::Span<const absl::string_view> found,
                                        bool batched, int64_t* bad_row) {
  // The numbers are read twice: the first time to count them, the second time to store them in a tensor of the right
  // size.
  std::vector<Lists> lists(found.size());
  std::vector<int64_t> counts(found.size());
  std::vector<absl::string_view> read;  // the strings of all records
  int64_t longest = 0;
  for (size_t row = 0; row < found.size(); ++row) {
    *bad_row = static_cast<int64_t>(row);
    TD_RETURN_IF_ERROR(FindLists(found[row], &lists[row]));
    if (lists[row].kind != 0 && lists[row].kind != KindOf(spec.dtype)) return WrongKind(spec, lists[row].kind);
    Values values(spec.dtype, nullptr, 0, &read);
    if (lists[row].kind != 0 && !values.Read(lists[row])) {
      return RecordError(spec, absl::StrCat("has a malformed ", KindName(lists[row].kind)));
    }
    counts[row] = values.count();
    longest = std::max(longest, values.count());
  }
  const int64_t rows = static_cast<int64_t>(found.size());
  Shape shape = batched ? Shape{rows, longest} : Shape{longest};
  if (spec.dtype == DType::kString) {
    std::vector<absl::string_view> strings;
    auto next = read.begin();
    for (int64_t count : counts) {
      strings.insert(strings.end(), next, next + count);
      strings.insert(strings.end(), longest - count, spec.default_value.string());
      next += count;
    }
    return HostTensor::FromStrings(std::move(shape), absl::MakeConstSpan(strings));
  }
  HostTensor out(spec.dtype, std::move(shape));
  TD_RETURN_IF_ERROR(out.status());
  const int64_t size = SizeOf(spec.dtype);
  uint8_t* to = static_cast<uint8_t*>(out.raw());
  for (size_t row = 0; row < found.size(); ++row, to += longest * size) {
    const int64_t count = counts[row], rest = longest - count;
    if (count > 0) Values(spec.dtype, to, count, &read).Read(lists[row]);
    if (spec.default_value.empty()) {
      if (rest > 0) std::memset(to + count * size, 0, rest * size);
    } else {
      CopyDefault(spec.default_value, rest, to + count * size);
    }
  }
  return out;
}

absl::Status CheckFeature(const FeatureSpec& f) {
  if (f.dtype != DType::kFloat32 && f.dtype != DType::kInt64 && f.dtype != DType::kString) {
    return KeyError(f, absl::StrCat("cannot be ", Name(f.dtype),
                                    ": an Example has float32, int64 and string; convert it with Map"));
  }
  const int64_t elements = f.variable_length ? 1 : CheckedNumElements(f.shape);
  if (elements < 0) return KeyError(f, absl::StrCat("cannot have the shape ", ShapeString(f.shape)));
  const HostTensor& d = f.default_value;
  TD_RETURN_IF_ERROR(Annotate(d.status(), absl::StrCat("the default of feature '", PrintableLine(f.key), "': ")));
  if (d.empty()) return absl::OkStatus();
  if (d.dtype() != f.dtype || (d.num_elements() != elements && d.num_elements() != 1)) {
    return KeyError(f, absl::StrCat("is ", Name(f.dtype), " of ", elements, " elements, and its default is ",
                                    Name(d.dtype()), ShapeString(d.shape())));
  }
  return absl::OkStatus();
}

}  // namespace tandem::example_internal
