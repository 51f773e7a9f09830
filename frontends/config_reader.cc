#include "frontends/config_reader.h"

#include <cmath>
#include <memory>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/logging.h"
#include "base/nearest_name.h"

namespace tandem::frontends {
namespace {

// Returns the value as a double if it is an integer or a floating-point number, otherwise nullopt.
std::optional<double> NumberOf(const PartConfig::Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* whole = std::get_if<int64_t>(&value)) return static_cast<double>(*whole);
  return std::nullopt;
}

std::string ValueText(const PartConfig::Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&value)) return absl::StrCat("\"", *text, "\"");
  if (const auto* list = std::get_if<std::vector<double>>(&value)) {
    return absl::StrCat("[", absl::StrJoin(*list, ", "), "]");
  }
  if (const auto* part = std::get_if<std::shared_ptr<const PartConfig>>(&value)) {
    return *part == nullptr ? "null" : absl::StrCat("a ", (*part)->class_name);
  }
  const std::optional<double> number = NumberOf(value);
  return number.has_value() ? absl::StrCat(*number) : "null";
}

}  // namespace

const PartConfig::Value* ConfigReader::Find(absl::string_view key) {
  known_.emplace(key);
  for (const auto& [name, value] : config_.values) {
    if (name == key) return &value;
  }
  return nullptr;
}

bool ConfigReader::Has(absl::string_view key) const {
  for (const auto& [name, value] : config_.values) {
    if (name == key) return !std::holds_alternative<std::monostate>(value);
  }
  return false;
}

std::optional<double> ConfigReader::OptionalNumber(absl::string_view key) {
  const PartConfig::Value* value = Find(key);
  if (value == nullptr || std::holds_alternative<std::monostate>(*value)) return std::nullopt;
  const std::optional<double> number = NumberOf(*value);
  if (!number.has_value() || !std::isfinite(*number)) Fail(key, "a finite number");
  return number;
}

double ConfigReader::Number(absl::string_view key, double otherwise) { return OptionalNumber(key).value_or(otherwise); }

bool ConfigReader::Flag(absl::string_view key, bool otherwise) {
  const PartConfig::Value* value = Find(key);
  if (value == nullptr || std::holds_alternative<std::monostate>(*value)) return otherwise;
  if (const bool* flag = std::get_if<bool>(value)) return *flag;
  Fail(key, "true or false");
  return otherwise;
}

std::string ConfigReader::Text(absl::string_view key, absl::string_view otherwise) {
  const PartConfig::Value* value = Find(key);
  if (value == nullptr || std::holds_alternative<std::monostate>(*value)) return std::string(otherwise);
  if (const std::string* text = std::get_if<std::string>(value)) return *text;
  Fail(key, "a text");
  return std::string(otherwise);
}

int64_t ConfigReader::Count(absl::string_view key, int64_t otherwise) {
  const double count = Number(key, static_cast<double>(otherwise));
  // The largest accepted count. Larger numbers of classes, bins or the like make no sense.
  constexpr double kMost = 1 << 30;
  if (count >= 1 && count <= kMost && count == std::floor(count)) return static_cast<int64_t>(count);
  Fail(key, "a whole number of at least 1");
  return otherwise;
}

std::vector<double> ConfigReader::Numbers(absl::string_view key) {
  const PartConfig::Value* value = Find(key);
  if (value == nullptr || std::holds_alternative<std::monostate>(*value)) return {};
  if (const auto* list = std::get_if<std::vector<double>>(value)) return *list;
  if (const std::optional<double> number = NumberOf(*value); number.has_value()) return {*number};
  Fail(key, "a list of numbers");
  return {};
}

const PartConfig* ConfigReader::Part(absl::string_view key) {
  const PartConfig::Value* value = Find(key);
  if (value == nullptr) return nullptr;
  const auto* part = std::get_if<std::shared_ptr<const PartConfig>>(value);
  return part == nullptr ? nullptr : part->get();
}

void ConfigReader::Ignore(std::initializer_list<absl::string_view> keys) {
  for (absl::string_view key : keys) known_.emplace(key);
}

void ConfigReader::Fail(absl::string_view key, absl::string_view must_be) {
  if (!status_.ok()) return;
  const PartConfig::Value* value = Find(key);
  status_ =
      absl::InvalidArgumentError(absl::StrCat("the ", kind_, " ", config_.class_name, ": \"", key, "\" must be ",
                                              must_be, ", got ", value == nullptr ? "nothing" : ValueText(*value)));
}

absl::Status ConfigReader::Finish() const {
  if (!status_.ok()) return status_;
  for (const auto& [name, value] : config_.values) {
    if (known_.contains(name)) continue;
    TD_LOG(WARNING) << "the " << kind_ << " " << config_.class_name << " has the unknown key \"" << name << "\" ("
                    << ValueText(value) << "), which is ignored";
  }
  return absl::OkStatus();
}

std::string UnknownName(absl::string_view kind, absl::string_view name, const std::vector<std::string>& names) {
  const std::string nearest = NearestName(name, names);
  return absl::StrCat("there is no ", kind, " \"", name, "\"",
                      nearest.empty() ? ". " : absl::StrCat("; did you mean \"", nearest, "\"? "), "The names are ",
                      absl::StrJoin(names, ", "));
}

absl::Status UnknownNameError(absl::string_view kind, absl::string_view name, const std::vector<std::string>& names) {
  return absl::InvalidArgumentError(UnknownName(kind, name, names));
}

}  // namespace tandem::frontends
