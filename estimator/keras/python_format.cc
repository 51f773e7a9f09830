#include "estimator/keras/python_format.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/nearest_name.h"
#include "base/status_macros.h"

namespace tandem::keras {
namespace {

// Returns Python's text for values that are not finite, which is the same in every format; nothing for others.
std::optional<std::string> NonFiniteText(double value) {
  if (std::isfinite(value)) return std::nullopt;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

// Returns the shortest digits that give `value` when they are read back, laid out as by Python's repr.
template <typename Float>
std::string ShortestText(Float value) {
  if (const auto text = NonFiniteText(value)) return *text;
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  const std::string scientific(buffer, end.ptr);  // for example "-1.25e-05"
  const int exponent = std::atoi(scientific.c_str() + scientific.find('e') + 1);
  if (exponent < -4 || exponent >= 16) return scientific;
  const auto fixed_end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed);
  std::string fixed(buffer, fixed_end.ptr);
  if (fixed.find('.') == std::string::npos) fixed += ".0";
  return fixed;
}

// The part of a template's field after the colon: width, precision and type.
struct Specification {
  bool zeros = false;
  int width = 0, precision = -1;
  char type = 0;
};

std::optional<Specification> ParseSpecification(absl::string_view text) {
  constexpr int kMost = 100;  // largest width and precision
  Specification result;
  size_t i = 0;
  const auto number = [&](int* value) {
    const size_t begin = i;
    while (i < text.size() && absl::ascii_isdigit(text[i])) ++i;
    return i > begin && absl::SimpleAtoi(text.substr(begin, i - begin), value) && *value <= kMost;
  };
  if (i < text.size() && text[i] == '0') result.zeros = true, ++i;
  if (i < text.size() && absl::ascii_isdigit(text[i]) && !number(&result.width)) return std::nullopt;
  if (i < text.size() && text[i] == '.') {
    ++i;
    if (!number(&result.precision)) return std::nullopt;
  }
  if (i < text.size()) result.type = text[i++];
  if (i < text.size()) return std::nullopt;
  return result;
}

// Returns nothing if Python would raise an error.
std::optional<std::string> FormatNumber(const std::variant<int64_t, double>& argument, Specification spec) {
  std::string digits;
  const int64_t* const integer = std::get_if<int64_t>(&argument);
  if (integer != nullptr && (spec.type == 0 || spec.type == 'd')) {
    if (spec.precision >= 0) return std::nullopt;
    digits = absl::StrCat(*integer);
  } else {
    const double value = integer != nullptr ? static_cast<double>(*integer) : std::get<double>(argument);
    const int precision = spec.precision < 0 ? 6 : spec.precision;
    switch (spec.type) {
      case 0:
        // Python's rules for a precision without a type are not implemented.
        if (spec.precision >= 0) return std::nullopt;
        digits = PythonNumber(value);
        break;
      case 'f':
      case 'F':
      case 'e':
      case 'E':
      case 'g':
      case 'G':
        digits = PythonFixed(value, precision, spec.type);
        break;
      case '%':
        digits = absl::StrCat(PythonFixed(100 * value, precision), "%");
        break;
      default:
        return std::nullopt;
    }
  }
  const size_t width = spec.width;
  if (digits.size() < width) {
    const size_t sign = spec.zeros && digits[0] == '-' ? 1 : 0;
    digits.insert(sign, width - digits.size(), spec.zeros ? '0' : ' ');
  }
  return digits;
}

}  // namespace

std::string PythonNumber(double value) { return ShortestText(value); }
std::string PythonNumber(float value) { return ShortestText(value); }

std::string PythonFixed(double value, int precision, char type) {
  if (const auto text = NonFiniteText(value)) return *text;
  switch (type) {
    case 'e':
      return absl::StrFormat("%.*e", precision, value);
    case 'E':
      return absl::StrFormat("%.*E", precision, value);
    case 'g':
      return absl::StrFormat("%.*g", precision, value);
    case 'G':
      return absl::StrFormat("%.*G", precision, value);
    default:
      return absl::StrFormat("%.*f", precision, value);
  }
}

absl::StatusOr<std::string> PythonFormat(absl::string_view text, const PythonArguments& arguments) {
  const auto error = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("\"", text, "\": ", what));
  };
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c != '{' && c != '}') {
      result += c;
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == c) {
      result += c;
      ++i;
      continue;
    }
    const size_t end = c == '{' ? text.find('}', i) : absl::string_view::npos;
    if (end == absl::string_view::npos) return error("a brace stands alone; write two for one");
    const absl::string_view field = text.substr(i + 1, end - i - 1);
    const size_t colon = field.find(':');
    const absl::string_view name = field.substr(0, colon);
    const std::variant<int64_t, double>* value = nullptr;
    std::vector<std::string> names;
    for (const auto& argument : arguments) {
      names.push_back(argument.first);
      if (argument.first == name) value = &argument.second;
    }
    if (value == nullptr) {
      return error(absl::StrCat("there is no \"", name, "\"; there are ", absl::StrJoin(names, ", "),
                                DidYouMean(std::string(name), names)));
    }
    const absl::string_view rest = colon == absl::string_view::npos ? "" : field.substr(colon + 1);
    const std::optional<Specification> spec = ParseSpecification(rest);
    const std::optional<std::string> digits = spec.has_value() ? FormatNumber(*value, *spec) : std::nullopt;
    if (!digits.has_value()) {
      return error(absl::StrCat("\"", rest, "\" formats no ",
                                std::holds_alternative<int64_t>(*value) ? "integer" : "floating-point number",
                                "; use such as \"02d\" for epoch and batch, and \".2f\" for the others"));
    }
    result += *digits;
    i = end;
  }
  return result;
}

}  // namespace tandem::keras
