#include "graph/ir/text_names.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace tandem::td {
namespace {

bool IsNameCharacter(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '$' || c == '-'; }

// Reads the text once, token by token.
class NameScanner {
 public:
  NameScanner(absl::string_view text, absl::string_view name) : text_(text), name_(name) {}

  absl::Status Run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        SkipString();
      } else if (text_.substr(at_, 2) == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '%') {
        if (!ReadValue()) {
          return absl::InvalidArgumentError(
              absl::StrCat(name_, ":", Line(), ": ", ReadName(), " is used and not defined before"));
        }
      } else if (c == '^') {
        ReadName();
        awaits_arguments_ = at_ < text_.size() && text_[at_] == '(';
      } else if (IsNameCharacter(c)) {
        if (ReadName() == "func.func") {
          awaits_arguments_ = true;
          scopes_.back().clear();  // a function cannot use values that are defined outside of it
        }
      } else {
        ReadBracket(c);
        ++at_;
      }
    }
    return absl::OkStatus();
  }

 private:
  using Names = absl::flat_hash_set<absl::string_view>;

  void ReadBracket(char c) {
    if (c == '(') {
      if (awaits_arguments_ || arguments_depth_ > 0) ++arguments_depth_;
      awaits_arguments_ = false;
    } else if (c == ')') {
      arguments_depth_ = std::max(0, arguments_depth_ - 1);
    } else if (c == '{') {
      scopes_.emplace_back();
    } else if (c == '}') {
      scopes_.pop_back();
      if (scopes_.empty()) scopes_.emplace_back();
    }
  }

  // Reads a definition, or a use of a defined name: returns true, with the position after it. Otherwise returns false,
  // with the position before it.
  bool ReadValue() {
    if (arguments_depth_ > 0) {
      scopes_.back().insert(ReadName());
      return true;
    }
    if (ReadResults()) return true;
    const size_t begin = at_;
    const absl::string_view value = ReadName();
    if (std::any_of(scopes_.begin(), scopes_.end(), [&](const Names& names) { return names.contains(value); })) {
      return true;
    }
    at_ = begin;
    return false;
  }

  // Reads the results of an operation, "%a, %b:2 =", which are then defined.
  bool ReadResults() {
    const size_t begin = at_;
    std::vector<absl::string_view> results;
    while (at_ < text_.size() && text_[at_] == '%') {
      results.push_back(ReadName());
      if (at_ + 1 < text_.size() && text_[at_] == ':' && absl::ascii_isdigit(text_[at_ + 1])) {
        for (++at_; at_ < text_.size() && absl::ascii_isdigit(text_[at_]);) ++at_;
      }
      SkipBlanks();
      if (at_ < text_.size() && text_[at_] == '=') {
        scopes_.back().insert(results.begin(), results.end());
        return true;
      }
      if (at_ >= text_.size() || text_[at_] != ',') break;
      ++at_;
      SkipBlanks();
    }
    at_ = begin;
    return false;
  }

  // Returns the name with the sign (% or ^) in front of it.
  absl::string_view ReadName() {
    const size_t begin = at_;
    for (++at_; at_ < text_.size() && IsNameCharacter(text_[at_]);) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  void SkipBlanks() {
    while (at_ < text_.size() && absl::ascii_isspace(text_[at_])) ++at_;
  }

  void SkipString() {
    for (++at_; at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
    }
    at_ += at_ < text_.size() && text_[at_] == '"';
  }

  int64_t Line() const { return 1 + std::count(text_.begin(), text_.begin() + static_cast<int64_t>(at_), '\n'); }

  const absl::string_view text_, name_;
  size_t at_ = 0;
  std::vector<Names> scopes_ = {Names()};  // the names defined in each open brace
  bool awaits_arguments_ = false;          // the next '(' opens the arguments of a function or a block
  int arguments_depth_ = 0;                // number of open brackets inside the arguments
};

}  // namespace

absl::Status CheckTextNames(absl::string_view text, absl::string_view name) { return NameScanner(text, name).Run(); }

}  // namespace tandem::td
