#include "estimator/config/warm_start_settings.h"

#include <regex>

#include "absl/strings/str_cat.h"

namespace tandem {
namespace {

void CheckExpression(const char* field, const std::string& expression, std::vector<std::string>* problems) {
  try {
    std::regex pattern(expression);
  } catch (const std::regex_error& e) {
    problems->push_back(
        absl::StrCat("warm_start_from: ", field, " \"", expression, "\" is not a regular expression: ", e.what()));
  }
}

}  // namespace

std::vector<std::string> WarmStartSettings::Problems() const {
  std::vector<std::string> problems;
  if (path.empty()) {
    problems.push_back("warm_start_from: path is empty; name a file of weights, a checkpoint or a model_dir");
  }
  CheckExpression("vars_to_warm_start", vars_to_warm_start, &problems);
  for (const auto& [expression, replacement] : var_name_replacements) {
    CheckExpression("var_name_replacements", expression, &problems);
  }
  for (const auto& [name, vocab] : var_name_to_vocab_info) {
    const std::string where = absl::StrCat("warm_start_from: var_name_to_vocab_info of \"", name, "\": ");
    if (vocab.new_vocab.empty() || vocab.old_vocab.empty()) {
      problems.push_back(absl::StrCat(where, vocab.new_vocab.empty() ? "new_vocab" : "old_vocab",
                                      " is empty; name the file with its tokens"));
    }
    if (vocab.new_oov_buckets < 0 || vocab.old_oov_buckets < 0) {
      problems.push_back(absl::StrCat(where, "OOV buckets must not be negative, got ", vocab.new_oov_buckets, " and ",
                                      vocab.old_oov_buckets));
    }
    if (vocab.axis < 0) {
      problems.push_back(absl::StrCat(where, "axis must not be negative, got ", vocab.axis));
    }
  }
  return problems;
}

}  // namespace tandem
