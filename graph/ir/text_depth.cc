#include "graph/ir/text_depth.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

namespace tandem::td {
namespace {

bool IsNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$' || c == '-';
}

// Reads the text once, token by token.
class DepthScanner {
 public:
  DepthScanner(absl::string_view text, absl::string_view name) : text_(text), name_(name) {}

  absl::Status Run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_, ++at_;
      } else if (c == '"') {
        SkipString();
      } else if (text_.substr(at_, 2) == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.substr(at_, 2) == "->") {
        at_ += 2;
      } else if (c == '#' || c == '!') {
        ++at_;
        ReadAlias(c);
      } else if (IsNameCharacter(c)) {
        const absl::string_view word = ReadName();
        if (word == "affine_map" || word == "affine_set") return Error(absl::StrCat("no program has an ", word));
      } else {
        if (c == '(' || c == '[' || c == '{' || c == '<') ++depth_;
        if (c == ')' || c == ']' || c == '}' || c == '>') depth_ = std::max(0, depth_ - 1);
        ++at_;
      }
      NoteDepth(depth_);
      if (deepest_ > kMaxTextDepth) {
        return Error(absl::StrCat("nested deeper than ", kMaxTextDepth, " levels, which no program is"));
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Error(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(name_, ":", line_, ": ", what));
  }

  void SkipString() {
    for (++at_; at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
    }
    at_ += at_ < text_.size() && text_[at_] == '"';
  }

  absl::string_view ReadName() {
    const size_t begin = at_;
    // "a->b" is a name and an arrow.
    while (at_ < text_.size() && IsNameCharacter(text_[at_]) && text_.substr(at_, 2) != "->") ++at_;
    at_ += at_ == begin;
    return text_.substr(begin, at_ - begin);
  }

  // Records that the text is nested to `depth` here; counts it for the alias whose definition is being read too.
  void NoteDepth(int depth) {
    deepest_ = std::max(deepest_, depth);
    if (!defines_.empty()) defined_depth_ = std::max(defined_depth_, depth);
  }

  void ReadAlias(char kind) {
    const std::string alias = absl::StrCat(std::string(1, kind), ReadName());
    size_t next = at_;
    while (next < text_.size() && (text_[next] == ' ' || text_[next] == '\t')) ++next;
    if (depth_ == 0 && next < text_.size() && text_[next] == '=') {
      FinishAlias();
      defines_ = alias;
    } else if (auto it = depths_.find(alias == defines_ ? "" : alias); it != depths_.end()) {
      NoteDepth(depth_ + it->second);
    }
  }

  void FinishAlias() {
    if (!defines_.empty()) depths_[defines_] = defined_depth_ + 1;
    defined_depth_ = 0;
  }

  const absl::string_view text_, name_;
  size_t at_ = 0;
  int line_ = 1, depth_ = 0, deepest_ = 0;
  std::string defines_;    // the alias whose definition is being read
  int defined_depth_ = 0;  // depth of that definition
  absl::flat_hash_map<std::string, int> depths_;
};

}  // namespace

absl::Status CheckTextDepth(absl::string_view text, absl::string_view name) { return DepthScanner(text, name).Run(); }

}  // namespace tandem::td
