#include "tools/launch/line_prefixer.h"

#include "absl/strings/str_cat.h"

namespace tandem {

namespace {

// An upper bound for the length of a log line's header, which precedes its message.
constexpr size_t kLongestLogHeader = 160;

}  // namespace

void LinePrefixer::AppendLine(absl::string_view begin, absl::string_view end, std::string* out) const {
  const size_t at = out->size();
  absl::StrAppend(out, prefix_, begin, end);
  if (prefix_.empty()) return;
  const std::string own = absl::StrCat("] ", prefix_);
  const size_t found = out->find(own, at + prefix_.size());
  if (found != std::string::npos && found < at + kLongestLogHeader) out->erase(found + 2, prefix_.size());
}

void LinePrefixer::Add(absl::string_view bytes, std::string* out) {
  while (!bytes.empty()) {
    const size_t room = kLongestLine - partial_.size();
    const size_t newline = bytes.substr(0, room + 1).find('\n');
    if (newline != absl::string_view::npos) {
      AppendLine(partial_, bytes.substr(0, newline + 1), out);
      bytes.remove_prefix(newline + 1);
    } else if (bytes.size() <= room) {
      absl::StrAppend(&partial_, bytes);
      return;
    } else {
      AppendLine(partial_, bytes.substr(0, room), out);
      out->push_back('\n');
      bytes.remove_prefix(room);
    }
    partial_.clear();
  }
}

void LinePrefixer::Finish(std::string* out) {
  if (!partial_.empty()) AppendLine(partial_, "\n", out);
  partial_.clear();
}

}  // namespace tandem
