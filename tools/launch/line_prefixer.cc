#include "tools/launch/line_prefixer.h"

#include "absl/strings/str_cat.h"

namespace tandem {

void LinePrefixer::Add(absl::string_view bytes, std::string* out) {
  while (!bytes.empty()) {
    const size_t room = kLongestLine - partial_.size();
    const size_t newline = bytes.substr(0, room + 1).find('\n');
    if (newline != absl::string_view::npos) {
      absl::StrAppend(out, prefix_, partial_, bytes.substr(0, newline + 1));
      bytes.remove_prefix(newline + 1);
    } else if (bytes.size() <= room) {
      absl::StrAppend(&partial_, bytes);
      return;
    } else {
      absl::StrAppend(out, prefix_, partial_, bytes.substr(0, room), "\n");
      bytes.remove_prefix(room);
    }
    partial_.clear();
  }
}

void LinePrefixer::Finish(std::string* out) {
  if (!partial_.empty()) absl::StrAppend(out, prefix_, partial_, "\n");
  partial_.clear();
}

}  // namespace tandem
