#include "data/files/example.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/element_count.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "data/files/wire.h"

namespace tandem {
namespace {

using wire::AppendBytes;
using wire::AppendVarint;
using wire::Reader;
using wire::Type;

// Fields, from tensorflow/core/example/feature.proto.
constexpr uint32_t kFeatures = 1;                       // of Example
constexpr uint32_t kEntry = 1;                          // of Features
constexpr uint32_t kKey = 1, kValue = 2;                // of an entry
constexpr uint32_t kBytes = 1, kFloat = 2, kInt64 = 3;  // of Feature
constexpr uint32_t kListValue = 1;                      // of each list

absl::string_view KindName(uint32_t kind) {
  return kind == kBytes ? "bytes_list" : kind == kFloat ? "float_list" : kind == kInt64 ? "int64_list" : "nothing";
}

uint32_t KindOf(DType dtype) { return dtype == DType::kString ? kBytes : dtype == DType::kFloat32 ? kFloat : kInt64; }

std::string List(uint32_t kind, absl::string_view list) {
  std::string feature;
  AppendBytes(kind, list, &feature);
  return feature;
}

absl::Status Malformed(absl::string_view what, int64_t position) {
  return absl::DataLossError(absl::StrCat("the record is no Example: ", what, " is malformed at its byte ", position));
}

// Calls `visit(type, bytes, number)` for each field `field` of the message; others are skipped. False where malformed.
template <typename Visit>
bool ForEachBytes(absl::string_view message, uint32_t field, int64_t* position, const Visit& visit) {
  Reader reader(message);
  while (!reader.done()) {
    uint32_t number = 0;
    Type type = Type::kVarint;
    absl::string_view bytes;
    *position = reader.position();
    if (!reader.ReadTag(&number, &type)) return false;
    if (number == field && type == Type::kBytes) {
      if (!reader.ReadBytes(&bytes) || !visit(bytes)) return false;
    } else if (!reader.Skip(type)) {
      return false;
    }
  }
  return true;
}

// The lists of a Feature that count: those behind the last change of the kind. Nearly always one.
struct Lists {
  uint32_t kind = 0;  // 0: absent
  absl::string_view first;
  std::vector<absl::string_view> more;
};

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

// Values go to `take`, one after another; false where the list is malformed.
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

// The values of a feature. Numbers go where they belong as long as there is room; all are counted.
class Values {
 public:
  // `room` numbers fit at `to`; strings go to the end of *strings.
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

absl::Status KeyError(const FeatureSpec& spec, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("feature '", PrintableLine(spec.key), "' ", what));
}

absl::Status WrongKind(const FeatureSpec& spec, uint32_t found) {
  return KeyError(spec, absl::StrCat("holds a ", KindName(found), " where a ", KindName(KindOf(spec.dtype)), " (",
                                     Name(spec.dtype), ") is expected"));
}

// `count` times value `i`, or values [0, count), of a default.
void CopyDefault(const HostTensor& value, int64_t count, uint8_t* to) {
  const int64_t size = SizeOf(value.dtype());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t from = value.num_elements() == 1 ? 0 : i;
    std::memcpy(to + i * size, static_cast<const uint8_t*>(value.raw()) + from * size, size);
  }
}

Shape WithRows(int64_t rows, const Shape& shape) {
  Shape out = {rows};
  out.insert(out.end(), shape.begin(), shape.end());
  return out;
}

// One feature of `found.size()` records, of a fixed length, as a tensor of shape `shape`.
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
    if (!values.Read(lists)) return KeyError(spec, absl::StrCat("has a malformed ", KindName(lists.kind)));
    if (values.count() != width) {
      return KeyError(spec, absl::StrCat("has ", values.count(), " values where the shape ", ShapeString(spec.shape),
                                         " needs ", width));
    }
  }
  return is_string ? HostTensor::FromStrings(std::move(shape), absl::MakeConstSpan(strings)) : out;
}

// One feature of the records, of any length, padded to the longest; `batched` or of the only record, without padding.
absl::StatusOr<HostTensor> ReadVariable(const FeatureSpec& spec, absl::Span<const absl::string_view> found,
                                        bool batched, int64_t* bad_row) {
  // Twice over the numbers: how many, then into their places.
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
      return KeyError(spec, absl::StrCat("has a malformed ", KindName(lists[row].kind)));
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

}  // namespace

ExampleBuilder& ExampleBuilder::Int64(absl::string_view key, absl::Span<const int64_t> values) {
  std::string packed, list;
  for (int64_t value : values) AppendVarint(static_cast<uint64_t>(value), &packed);
  if (!packed.empty()) AppendBytes(kListValue, packed, &list);
  features_[std::string(key)] = List(kInt64, list);
  return *this;
}

ExampleBuilder& ExampleBuilder::Float(absl::string_view key, absl::Span<const float> values) {
  const absl::string_view packed(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  std::string list;
  if (!packed.empty()) AppendBytes(kListValue, packed, &list);
  features_[std::string(key)] = List(kFloat, list);
  return *this;
}

ExampleBuilder& ExampleBuilder::Bytes(absl::string_view key, absl::Span<const absl::string_view> values) {
  std::string list;
  for (absl::string_view value : values) AppendBytes(kListValue, value, &list);
  features_[std::string(key)] = List(kBytes, list);
  return *this;
}

std::string ExampleBuilder::Serialize() const {
  std::string features;
  for (const auto& [key, feature] : features_) {
    std::string entry;
    AppendBytes(kKey, key, &entry);
    AppendBytes(kValue, feature, &entry);
    AppendBytes(kEntry, entry, &features);
  }
  std::string example;
  AppendBytes(kFeatures, features, &example);
  return example;
}

absl::StatusOr<std::vector<FeatureSummary>> ListFeatures(absl::string_view record) {
  std::vector<FeatureSummary> summaries;
  int64_t position = 0, inner = 0, in_entry = 0;
  const auto entry = [&](absl::string_view bytes) {
    FeatureSummary& summary = summaries.emplace_back();
    absl::string_view feature;
    const auto set_key = [&](absl::string_view key) {
      summary.key = std::string(key);
      return true;
    };
    const auto set_feature = [&](absl::string_view value) {
      feature = value;
      return true;
    };
    Lists lists;
    if (!ForEachBytes(bytes, kKey, &in_entry, set_key) || !ForEachBytes(bytes, kValue, &in_entry, set_feature) ||
        !FindLists(feature, &lists).ok()) {
      return false;
    }
    if (lists.kind == 0) return true;
    summary.dtype = lists.kind == kBytes ? DType::kString : lists.kind == kFloat ? DType::kFloat32 : DType::kInt64;
    std::vector<absl::string_view> strings;
    Values values(summary.dtype, nullptr, 0, &strings);
    if (!values.Read(lists)) return false;
    summary.count = values.count();
    return true;
  };
  const auto features = [&](absl::string_view bytes) { return ForEachBytes(bytes, kEntry, &inner, entry); };
  if (!ForEachBytes(record, kFeatures, &position, features)) return Malformed("a feature", position + inner);
  return summaries;
}

absl::StatusOr<ExampleParser> ExampleParser::Create(std::vector<FeatureSpec> features) {
  if (features.empty()) return absl::InvalidArgumentError("there is no feature to read; give at least one");
  ExampleParser parser;
  auto keys = std::make_shared<std::vector<std::string>>();
  for (FeatureSpec& f : features) {
    TD_RETURN_IF_ERROR(CheckFeature(f));
    if (f.name.empty()) f.name = f.key;
    for (const ComponentSpec& other : parser.spec_) {
      if (other.name == f.name) return KeyError(f, absl::StrCat("gives a second component '", f.name, "'"));
    }
    if (std::find(keys->begin(), keys->end(), f.key) != keys->end()) return KeyError(f, "is asked for twice");
    keys->push_back(f.key);
    parser.spec_.push_back({f.name, f.dtype, f.variable_length ? Shape{-1} : f.shape});
    parser.has_variable_length_ |= f.variable_length;
  }
  for (size_t i = 0; i < keys->size(); ++i) parser.index_[(*keys)[i]] = i;
  parser.key_storage_ = std::move(keys);
  parser.features_ = std::move(features);
  return parser;
}

absl::Status ExampleParser::FindFeatures(absl::string_view record, std::vector<absl::string_view>* found) const {
  found->assign(features_.size(), absl::string_view());
  size_t expected = 0;  // writers keep one order, so the next key is probably the one behind the last
  absl::string_view broken = "the message";
  int64_t position = 0, inner = 0;
  const auto entry = [&](absl::string_view bytes) {
    absl::string_view key, value;
    Reader reader(bytes);
    broken = "an entry of the features";
    while (!reader.done()) {
      uint32_t field = 0;
      Type type = Type::kVarint;
      if (!reader.ReadTag(&field, &type)) return false;
      if (type == Type::kBytes && field == kKey) {
        if (!reader.ReadBytes(&key)) return false;
      } else if (type == Type::kBytes && field == kValue) {
        if (!reader.ReadBytes(&value)) return false;
      } else if (!reader.Skip(type)) {
        return false;
      }
    }
    broken = "the features";
    if (expected >= features_.size() || features_[expected].key != key) {
      const auto it = index_.find(key);
      if (it == index_.end()) return true;
      expected = it->second;
    }
    (*found)[expected++] = value;
    return true;
  };
  const auto features = [&](absl::string_view bytes) {
    broken = "the features";
    if (!ForEachBytes(bytes, kEntry, &inner, entry)) return false;
    broken = "the message";
    return true;
  };
  if (!ForEachBytes(record, kFeatures, &position, features)) return Malformed(broken, position + inner);
  return absl::OkStatus();
}

absl::Status ExampleParser::ParseOne(absl::string_view record, Element* out) const {
  std::vector<absl::string_view> found;
  TD_RETURN_IF_ERROR(FindFeatures(record, &found));
  out->components.clear();
  int64_t row = 0;
  for (size_t i = 0; i < features_.size(); ++i) {
    const FeatureSpec& f = features_[i];
    const absl::Span<const absl::string_view> only(&found[i], 1);
    TD_ASSIGN_OR_RETURN(HostTensor value, f.variable_length ? ReadVariable(f, only, /*batched=*/false, &row)
                                                            : ReadFixed(f, only, f.shape, &row));
    out->components.push_back(std::move(value));
  }
  return absl::OkStatus();
}

absl::Status ExampleParser::ParseBatch(absl::Span<const absl::string_view> records, Element* out,
                                       int64_t* bad_row) const {
  std::vector<std::vector<absl::string_view>> columns(features_.size(), std::vector<absl::string_view>(records.size()));
  std::vector<absl::string_view> found;
  for (size_t row = 0; row < records.size(); ++row) {
    *bad_row = static_cast<int64_t>(row);
    TD_RETURN_IF_ERROR(FindFeatures(records[row], &found));
    for (size_t i = 0; i < found.size(); ++i) columns[i][row] = found[i];
  }
  out->components.clear();
  const int64_t rows = static_cast<int64_t>(records.size());
  for (size_t i = 0; i < features_.size(); ++i) {
    const FeatureSpec& f = features_[i];
    TD_ASSIGN_OR_RETURN(HostTensor value, f.variable_length
                                              ? ReadVariable(f, columns[i], /*batched=*/true, bad_row)
                                              : ReadFixed(f, columns[i], WithRows(rows, f.shape), bad_row));
    out->components.push_back(std::move(value));
  }
  return absl::OkStatus();
}

}  // namespace tandem
