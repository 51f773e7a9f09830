#include "data/files/example.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "data/files/example_values.h"
#include "data/files/wire.h"

namespace tandem {

using example_internal::CheckFeature;
using example_internal::CountValues;
using example_internal::FindLists;
using example_internal::ForEachBytes;
using example_internal::kBytes;
using example_internal::kEntry;
using example_internal::KeyError;
using example_internal::kFeatures;
using example_internal::kFloat;
using example_internal::kInt64;
using example_internal::kKey;
using example_internal::kListValue;
using example_internal::kValue;
using example_internal::Lists;
using example_internal::Malformed;
using example_internal::ReadFixed;
using example_internal::ReadVariable;
using example_internal::WithRows;
using wire::AppendBytes;
using wire::AppendVarint;
using wire::Reader;
using wire::Type;

namespace {

std::string List(uint32_t kind, absl::string_view list) {
  std::string feature;
  AppendBytes(kind, list, &feature);
  return feature;
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
    return CountValues(lists, &summary.dtype, &summary.count).ok();
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
  // The index of the feature that the next entry of the record probably has. Writers keep one order, so it follows the
  // feature that was found last.
  size_t expected = 0;
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
  if (out == nullptr) return absl::InvalidArgumentError("ExampleParser::ParseOne: a pointer is null");
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
  if (out == nullptr || bad_row == nullptr) {
    return absl::InvalidArgumentError("ExampleParser::ParseBatch: a pointer is null");
  }
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
