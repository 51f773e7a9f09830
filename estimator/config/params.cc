#include "estimator/config/params.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/nearest_name.h"

namespace tandem {
namespace {

template <typename T>
std::string List(const char* kind, const std::vector<T>& values) {
  return absl::StrCat("a list of ", kind, ", [", absl::StrJoin(values, ", "), "]");
}

std::string Describe(const Params::Value& value) {
  struct Visitor {
    std::string operator()(bool v) const { return v ? "the bool true" : "the bool false"; }
    std::string operator()(int64_t v) const { return absl::StrCat("the integer ", v); }
    std::string operator()(double v) const { return absl::StrCat("the number ", v); }
    std::string operator()(const std::string& v) const { return absl::StrCat("the string \"", v, "\""); }
    std::string operator()(const std::vector<int64_t>& v) const { return List("integers", v); }
    std::string operator()(const std::vector<double>& v) const { return List("numbers", v); }
    std::string operator()(const std::vector<std::string>& v) const { return List("strings", v); }
  };
  return std::visit(Visitor(), value);
}

}  // namespace

void Params::Set(Entry entry) {
  if (!entry.group.has_value()) {
    values_[entry.name] = std::move(entry.value);
    return;
  }
  for (auto& [name, value] : *entry.group) values_[absl::StrCat(entry.name, ".", name)] = std::move(value);
}

const Params::Value* Params::Ask(absl::string_view name, SourceLocation location) const {
  auto it = values_.find(std::string(name));
  std::lock_guard<std::mutex> lock(asked_->mutex);
  if (it == values_.end()) {
    asked_->missing.emplace(name, location);
    return nullptr;
  }
  asked_->read.insert(it->first);
  return &it->second;
}

const std::map<std::string, Params::Value>& Params::values() const {
  std::lock_guard<std::mutex> lock(asked_->mutex);
  asked_->all = true;
  return values_;
}

std::string Params::UnreadText() const {
  std::lock_guard<std::mutex> lock(asked_->mutex);
  if (asked_->all) return "";
  std::vector<std::string> missing, unread;
  for (const auto& entry : asked_->missing) {
    if (values_.count(entry.first) == 0) missing.push_back(entry.first);
  }
  for (const auto& entry : values_) {
    if (asked_->read.count(entry.first) > 0) continue;
    const std::string near = NearestName(entry.first, missing);
    std::string text = absl::StrCat("\"", entry.first, "\" was never read");
    if (!near.empty()) {
      const SourceLocation& where = asked_->missing.at(near);
      absl::StrAppend(&text, ", and ", where.file, ":", where.line, " asked for \"", near,
                      "\", which is not set and has its default; did you mean the same?");
    }
    unread.push_back(std::move(text));
  }
  return unread.empty() ? "" : absl::StrCat("Params: ", absl::StrJoin(unread, "; "));
}

void Params::Fail(absl::string_view name, const Value& value, absl::string_view kind, SourceLocation location) const {
  std::lock_guard<std::mutex> lock(error_->mutex);
  if (!error_->status.ok()) return;
  error_->status =
      absl::InvalidArgumentError(absl::StrCat("Params: \"", name, "\" is ", Describe(value), ", and ", location.file,
                                              ":", location.line, " asks for ", kind, "; give it as that kind"));
}

bool Params::Bool(absl::string_view name, bool otherwise, SourceLocation location) const {
  const Value* value = Ask(name, location);
  if (!value) return otherwise;
  if (const bool* b = std::get_if<bool>(value)) return *b;
  Fail(name, *value, "a bool", location);
  return otherwise;
}

int64_t Params::Int(absl::string_view name, int64_t otherwise, SourceLocation location) const {
  const Value* value = Ask(name, location);
  if (!value) return otherwise;
  if (const int64_t* i = std::get_if<int64_t>(value)) return *i;
  Fail(name, *value, "an integer", location);
  return otherwise;
}

double Params::Number(absl::string_view name, double otherwise, SourceLocation location) const {
  const Value* value = Ask(name, location);
  if (!value) return otherwise;
  if (const double* d = std::get_if<double>(value)) return *d;
  if (const int64_t* i = std::get_if<int64_t>(value)) return static_cast<double>(*i);
  Fail(name, *value, "a number", location);
  return otherwise;
}

std::string Params::String(absl::string_view name, absl::string_view otherwise, SourceLocation location) const {
  const Value* value = Ask(name, location);
  if (!value) return std::string(otherwise);
  if (const std::string* s = std::get_if<std::string>(value)) return *s;
  Fail(name, *value, "a string", location);
  return std::string(otherwise);
}

std::vector<int64_t> Params::Ints(absl::string_view name, std::vector<int64_t> otherwise,
                                  SourceLocation location) const {
  const Value* value = Ask(name, location);
  if (!value) return otherwise;
  if (const auto* list = std::get_if<std::vector<int64_t>>(value)) return *list;
  Fail(name, *value, "a list of integers", location);
  return otherwise;
}

std::vector<double> Params::Numbers(absl::string_view name, std::vector<double> otherwise,
                                    SourceLocation location) const {
  const Value* value = Ask(name, location);
  if (!value) return otherwise;
  if (const auto* list = std::get_if<std::vector<double>>(value)) return *list;
  if (const auto* list = std::get_if<std::vector<int64_t>>(value)) return {list->begin(), list->end()};
  Fail(name, *value, "a list of numbers", location);
  return otherwise;
}

std::vector<std::string> Params::Strings(absl::string_view name, std::vector<std::string> otherwise,
                                         SourceLocation location) const {
  const Value* value = Ask(name, location);
  if (!value) return otherwise;
  if (const auto* list = std::get_if<std::vector<std::string>>(value)) return *list;
  Fail(name, *value, "a list of strings", location);
  return otherwise;
}

absl::Status Params::status() const {
  std::lock_guard<std::mutex> lock(error_->mutex);
  return error_->status;
}

Params Params::WithoutErrors() const {
  Params params = *this;
  params.error_ = std::make_shared<FirstError>();
  return params;
}

}  // namespace tandem
