#include "estimator/serving/server/json_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/status_macros.h"

namespace tandem::serving {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// True if a number may begin at `p`: it has a digit first, and no zero in front of others.
bool BeginsNumber(const char* p, const char* end) {
  if (p < end && *p == '-') ++p;
  return p < end && IsDigit(*p) && !(*p == '0' && p + 1 < end && IsDigit(p[1]));
}

void AppendUtf8(uint32_t code, std::string* text) {
  if (code < 0x80) {
    text->push_back(static_cast<char>(code));
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr uint32_t kFirst[] = {0, 0xC0, 0xE0, 0xF0};
  text->push_back(static_cast<char>(kFirst[more] | (code >> (6 * more))));
  for (int i = more - 1; i >= 0; --i) text->push_back(static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3F)));
}

}  // namespace

void JsonReader::SkipSpace() {
  while (next_ < end_ && (*next_ == ' ' || *next_ == '\n' || *next_ == '\r' || *next_ == '\t')) ++next_;
}

char JsonReader::Peek() {
  SkipSpace();
  return next_ < end_ ? *next_ : '\0';
}

bool JsonReader::Take(char c) {
  if (Peek() != c || next_ == end_) return false;
  ++next_;
  return true;
}

bool JsonReader::TakeWord(absl::string_view word) {
  if (static_cast<size_t>(end_ - next_) < word.size() || absl::string_view(next_, word.size()) != word) return false;
  next_ += word.size();
  return true;
}

bool JsonReader::ReadString(std::string* value) {
  const char* const before = next_;
  value->clear();
  if (Take('"') && ReadRestOfString(value)) return true;
  next_ = before;
  return false;
}

bool JsonReader::ReadRestOfString(std::string* value) {
  while (next_ < end_ && static_cast<unsigned char>(*next_) >= 0x20) {
    const char c = *next_++;
    if (c == '"') return true;
    if (c != '\\') {
      value->push_back(c);
    } else if (!ReadEscape(value)) {
      return false;
    }
  }
  return false;
}

bool JsonReader::ReadEscape(std::string* value) {
  if (next_ == end_) return false;
  constexpr absl::string_view kEscapes = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  const char c = *next_++;
  if (const size_t i = kEscapes.find(c); i != absl::string_view::npos) {
    value->push_back(kMeanings[i]);
    return true;
  }
  uint32_t code = 0, low = 0;
  if (c != 'u' || !ReadHex(&code)) return false;
  if (code >= 0xD800 && code < 0xDC00) {  // the first half of a pair
    if (!TakeWord("\\u") || !ReadHex(&low) || low < 0xDC00 || low > 0xDFFF) return false;
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  } else if (code >= 0xDC00 && code <= 0xDFFF) {
    return false;
  }
  AppendUtf8(code, value);
  return true;
}

bool JsonReader::ReadHex(uint32_t* value) {
  if (end_ - next_ < 4) return false;
  const auto [rest, error] = std::from_chars(next_, next_ + 4, *value, 16);
  if (error != std::errc() || rest != next_ + 4) return false;
  next_ += 4;
  return true;
}

template <typename T>
bool JsonReader::ReadFloat(T* value) {
  SkipSpace();
  if (!BeginsNumber(next_, end_)) {
    const bool negative = next_ < end_ && *next_ == '-' && end_ - next_ > 1 && next_[1] == 'I';
    if (!negative && TakeWord("NaN")) {
      *value = std::numeric_limits<T>::quiet_NaN();
      return true;
    }
    if (!TakeWord(negative ? "-Infinity" : "Infinity")) return false;
    *value = negative ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
    return true;
  }
  const auto [rest, error] = std::from_chars(next_, end_, *value);
  if (error == std::errc::result_out_of_range) {
    // What is too small for the type is 0 or a denormal number; what is too large does not fit.
    double wide = 0;
    if (!absl::SimpleAtod(absl::string_view(next_, static_cast<size_t>(rest - next_)), &wide)) return false;
    if (std::abs(wide) > std::numeric_limits<T>::max()) return false;
    *value = static_cast<T>(wide);
  } else if (error != std::errc()) {
    return false;
  }
  if (rest[-1] == '.') return false;
  next_ = rest;
  return true;
}

template <typename T>
bool JsonReader::ReadInteger(T* value) {
  SkipSpace();
  if (!BeginsNumber(next_, end_)) return false;
  const auto [rest, error] = std::from_chars(next_, end_, *value);
  if (error != std::errc() || (rest < end_ && (*rest == '.' || *rest == 'e' || *rest == 'E'))) return false;
  next_ = rest;
  return true;
}

bool JsonReader::ReadValue(float* value) { return ReadFloat(value); }
bool JsonReader::ReadValue(double* value) { return ReadFloat(value); }
bool JsonReader::ReadValue(int32_t* value) { return ReadInteger(value); }
bool JsonReader::ReadValue(int64_t* value) { return ReadInteger(value); }
bool JsonReader::ReadValue(uint8_t* value) { return ReadInteger(value); }

bool JsonReader::ReadValue(bool* value) {
  SkipSpace();
  *value = next_ < end_ && *next_ == 't';
  return TakeWord(*value ? "true" : "false");
}

absl::Status JsonReader::ReadObject(absl::string_view where,
                                    absl::FunctionRef<absl::Status(const std::string& name)> member) {
  if (!Take('{')) return Unexpected(where, "an object");
  if (Take('}')) return absl::OkStatus();
  do {
    std::string name;
    if (Peek() != '"' || !ReadString(&name)) return Unexpected(where, "a name in quotes");
    if (!Take(':')) return Unexpected(where, "\":\"");
    TD_RETURN_IF_ERROR(member(name));
  } while (Take(','));
  return Take('}') ? absl::OkStatus() : Unexpected(where, "\",\" or \"}\"");
}

absl::Status JsonReader::ReadEnd() {
  Peek();
  return next_ == end_ ? absl::OkStatus() : Unexpected("", "the end");
}

absl::Status JsonReader::Unexpected(absl::string_view where, absl::string_view expected) {
  const std::string found = Found();
  return absl::InvalidArgumentError(absl::StrCat(where.empty() ? "the body" : where, ": there is ", found, " where ",
                                                 expected, " is expected (byte ", next_ - begin_, " of the body)"));
}

std::string JsonReader::Found() {
  constexpr size_t kShown = 24;
  switch (Peek()) {
    case '[':
      return "a list";
    case '{':
      return "an object";
    case '"':
      return "a string";
    default:
      break;
  }
  if (next_ == end_) return "the end of the body";
  const char* const last = std::find_if(next_ + 1, end_, [](char c) {
    return c == ',' || c == ']' || c == '}' || c == '"' || absl::ascii_isspace(static_cast<unsigned char>(c));
  });
  const size_t size = std::min(kShown, static_cast<size_t>(last - next_));
  return PrintableLine(absl::string_view(next_, size));
}

}  // namespace tandem::serving
