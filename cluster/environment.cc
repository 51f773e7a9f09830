#include "cluster/environment.h"

#include <unistd.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/printable.h"

namespace tandem {

Environment Environment::OfProcess() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const absl::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals == absl::string_view::npos) continue;
    variables.emplace(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
  }
  return Environment(std::move(variables));
}

std::string Environment::Get(absl::string_view name) const {
  auto found = variables_.find(std::string(name));
  return found == variables_.end() ? "" : found->second;
}

int64_t Environment::Number(absl::string_view name, int64_t least, int64_t most,
                            std::vector<std::string>* errors) const {
  const std::string text = Get(name);
  int64_t number = 0;
  if (text.empty()) {
    errors->push_back(absl::StrCat(name, " is not set"));
  } else if (!absl::SimpleAtoi(text, &number)) {
    errors->push_back(absl::StrCat(name, " is \"", PrintableLine(text), "\", which is no whole number"));
  } else if (number < least || number > most) {
    errors->push_back(absl::StrCat(name, " is ", number, ", which is not in [", least, ", ", most, "]"));
  } else {
    return number;
  }
  return least;
}

}  // namespace tandem
