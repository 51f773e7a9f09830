#include "estimator/params.h"

namespace tandem {

const Params::Value* Params::Find(absl::string_view name) const {
  auto it = values_.find(std::string(name));
  return it == values_.end() ? nullptr : &it->second;
}

bool Params::Bool(absl::string_view name, bool otherwise) const {
  const Value* value = Find(name);
  const bool* b = value ? std::get_if<bool>(value) : nullptr;
  return b ? *b : otherwise;
}

int64_t Params::Int(absl::string_view name, int64_t otherwise) const {
  const Value* value = Find(name);
  const int64_t* i = value ? std::get_if<int64_t>(value) : nullptr;
  return i ? *i : otherwise;
}

double Params::Number(absl::string_view name, double otherwise) const {
  const Value* value = Find(name);
  if (!value) return otherwise;
  if (const double* d = std::get_if<double>(value)) return *d;
  if (const int64_t* i = std::get_if<int64_t>(value)) return static_cast<double>(*i);
  return otherwise;
}

std::string Params::String(absl::string_view name, absl::string_view otherwise) const {
  const Value* value = Find(name);
  const std::string* s = value ? std::get_if<std::string>(value) : nullptr;
  return s ? *s : std::string(otherwise);
}

}  // namespace tandem
