#include "data/files/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/nearest_name.h"
#include "base/printable.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

constexpr size_t kShownBytes = 60;

std::string Shown(absl::string_view field) {
  if (field.size() <= kShownBytes) return absl::StrCat("'", PrintableLine(field), "'");
  return absl::StrCat("'", PrintableLine(field.substr(0, kShownBytes)), "...'");
}

// The slow parsers (Abseil's) accept blanks and signs around a number. For floats they also accept hexadecimal numbers,
// which are rejected here because the parsers for integers do not accept them, and they turn a number out of range into
// an infinity, which is rejected if the text has digits. Numbers too close to 0 become 0.
template <typename T>
bool ParseFloatSlowly(absl::string_view text, bool (*parse)(absl::string_view, T*), T* value) {
  if (text.find_first_of("xX") != absl::string_view::npos || !parse(text, value)) return false;
  return !std::isinf(*value) || text.find_first_of("0123456789") == absl::string_view::npos;
}
bool ParseSlowly(absl::string_view text, float* value) {
  return ParseFloatSlowly<float>(text, absl::SimpleAtof, value);
}
bool ParseSlowly(absl::string_view text, double* value) {
  return ParseFloatSlowly<double>(text, absl::SimpleAtod, value);
}
bool ParseSlowly(absl::string_view text, int32_t* value) { return absl::SimpleAtoi(text, value); }
bool ParseSlowly(absl::string_view text, int64_t* value) { return absl::SimpleAtoi(text, value); }

template <typename T>
bool ParseNumber(absl::string_view text, void* to) {
  T value = {};
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if ((error != std::errc() || rest != end) && !ParseSlowly(text, &value)) return false;
  std::memcpy(to, &value, sizeof(T));
  return true;
}

bool ParseAs(DType dtype, absl::string_view text, void* to) {
  switch (dtype) {
    case DType::kFloat32:
      return ParseNumber<float>(text, to);
    case DType::kFloat64:
      return ParseNumber<double>(text, to);
    case DType::kInt32:
      return ParseNumber<int32_t>(text, to);
    default:
      return ParseNumber<int64_t>(text, to);
  }
}

bool Readable(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kInt32 || dtype == DType::kInt64 ||
         dtype == DType::kString;
}

}  // namespace

absl::Status SplitCsv(absl::string_view record, char delimiter, std::vector<absl::string_view>* fields,
                      std::vector<std::string>* storage) {
  fields->clear();
  const char* at = record.data();
  const char* const end = at + record.size();
  const auto error = [&](absl::string_view what) {
    return absl::DataLossError(absl::StrCat("column ", fields->size() + 1, ": ", what));
  };
  for (;;) {
    if (at < end && *at == '"') {
      const char* const begin = ++at;
      bool doubled = false;
      for (; at < end; ++at) {
        if (*at != '"') continue;
        if (at + 1 == end || at[1] != '"') break;
        doubled = true;
        ++at;
      }
      if (at >= end) return error("the quote that opens the field is not closed");
      absl::string_view field(begin, at - begin);
      ++at;
      if (at < end && *at != delimiter) return error("behind the closing quote, a delimiter must follow");
      if (doubled) {
        std::string& single = storage->emplace_back();
        for (size_t i = 0; i < field.size(); ++i) {
          single.push_back(field[i]);
          if (field[i] == '"') ++i;
        }
        field = single;
      }
      fields->push_back(field);
    } else {
      const char* const begin = at;
      while (at < end && *at != delimiter && *at != '"') ++at;
      if (at < end && *at == '"') return error("a field with a quote in it must have quotes around it");
      fields->emplace_back(begin, at - begin);
    }
    if (at == end) return absl::OkStatus();
    ++at;
  }
}

absl::StatusOr<CsvParser> CsvParser::Create(std::vector<CsvColumn> columns, char delimiter) {
  if (columns.empty()) return absl::InvalidArgumentError("there is no column to read; give at least one");
  if (delimiter == '"' || delimiter == '\n' || delimiter == '\r') {
    return absl::InvalidArgumentError("the delimiter must be neither a quote nor the end of a line");
  }
  CsvParser parser;
  for (const CsvColumn& c : columns) {
    const std::string name = absl::StrCat("column '", PrintableLine(c.name), "' ");
    if (!Readable(c.dtype)) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, "cannot be ", Name(c.dtype), "; the types are float32, float64, int32, int64 and string"));
    }
    TD_RETURN_IF_ERROR(Annotate(c.default_value.status(), name));
    if (!c.default_value.empty() && (c.default_value.dtype() != c.dtype || c.default_value.num_elements() != 1)) {
      return absl::InvalidArgumentError(absl::StrCat(name, "is ", Name(c.dtype), ", and its default is ",
                                                     Name(c.default_value.dtype()),
                                                     ShapeString(c.default_value.shape())));
    }
    for (const ComponentSpec& other : parser.spec_) {
      if (other.name == c.name) return absl::InvalidArgumentError(absl::StrCat(name, "is given twice"));
    }
    parser.spec_.push_back({c.name, c.dtype, {}});
  }
  parser.columns_ = std::move(columns);
  parser.delimiter_ = delimiter;
  return parser;
}

absl::StatusOr<std::vector<size_t>> CsvParser::FindColumns(absl::string_view header) const {
  std::vector<absl::string_view> fields;
  std::vector<std::string> storage;
  storage.reserve(std::count(header.begin(), header.end(), '"'));  // a reallocation would invalidate views into it
  TD_RETURN_IF_ERROR(SplitCsv(header, delimiter_, &fields, &storage));
  const std::vector<std::string> names(fields.begin(), fields.end());
  std::vector<size_t> places;
  for (const CsvColumn& column : columns_) {
    const auto found = std::find(names.begin(), names.end(), column.name);
    if (found == names.end()) {
      const std::string nearest = NearestName(column.name, names);
      return absl::NotFoundError(
          absl::StrCat("there is no column '", PrintableLine(column.name), "'; the columns are ",
                       PrintableLine(absl::StrJoin(names, ", ")),
                       nearest.empty() ? "" : absl::StrCat("; is '", PrintableLine(nearest), "' meant?")));
    }
    places.push_back(found - names.begin());
  }
  return places;
}

CsvParser::Batch::Batch(const CsvParser& parser, int64_t rows) : parser_(parser), rows_(rows) {
  for (const CsvColumn& column : parser.columns_) {
    numbers_.push_back(column.dtype == DType::kString ? HostTensor() : HostTensor(column.dtype, {rows}));
  }
  strings_.resize(numbers_.size());
}

absl::Status CsvParser::Batch::SetField(size_t c, size_t place, absl::string_view field) {
  const CsvColumn& column = parser_.columns_[c];
  const auto error = [&](absl::string_view what) {
    return absl::DataLossError(absl::StrCat("column ", place + 1, " ('", PrintableLine(column.name), "'): ", what));
  };
  if (field.empty() && column.default_value.empty()) {
    return error(absl::StrCat("the field is empty, and a ", Name(column.dtype), " without a default is expected"));
  }
  if (column.dtype == DType::kString) {
    strings_[c].push_back(field.empty() ? column.default_value.string() : field);
    return absl::OkStatus();
  }
  const int64_t size = SizeOf(column.dtype);
  uint8_t* to = static_cast<uint8_t*>(numbers_[c].raw()) + row_ * size;
  if (field.empty()) {
    std::memcpy(to, column.default_value.raw(), size);
  } else if (!ParseAs(column.dtype, field, to)) {
    return error(absl::StrCat(Shown(field), " is no ", Name(column.dtype)));
  }
  return absl::OkStatus();
}

absl::Status CsvParser::Batch::Add(absl::string_view record, size_t fields, absl::Span<const size_t> places) {
  std::vector<std::string> storage;
  const int64_t quotes = std::count(record.begin(), record.end(), '"');
  if (quotes > 0) storage.reserve(quotes);  // a reallocation would invalidate views into it
  TD_RETURN_IF_ERROR(SplitCsv(record, parser_.delimiter_, &fields_, &storage));
  if (fields_.size() != fields) {
    return absl::DataLossError(
        absl::StrCat("there are ", fields_.size(), " columns where ", fields, " are expected: ", Shown(record)));
  }
  for (size_t c = 0; c < places.size(); ++c) TD_RETURN_IF_ERROR(SetField(c, places[c], fields_[places[c]]));
  if (!storage.empty()) storage_.push_back(std::move(storage));
  ++row_;
  return absl::OkStatus();
}

void CsvParser::Batch::Finish(bool batched, Element* out) {
  const Shape shape = batched ? Shape{rows_} : Shape{};
  out->components.clear();
  for (size_t c = 0; c < numbers_.size(); ++c) {
    out->components.push_back(numbers_[c].empty() ? HostTensor::FromStrings(shape, absl::MakeConstSpan(strings_[c]))
                                                  : numbers_[c].Reshaped(shape));
  }
}

}  // namespace tandem
