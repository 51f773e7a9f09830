// LinePrefixer: splits the output of one process into whole lines, and prefixes each with the name of its task.
#ifndef TANDEM_TOOLS_LAUNCH_LINE_PREFIXER_H_
#define TANDEM_TOOLS_LAUNCH_LINE_PREFIXER_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace tandem {

class LinePrefixer {
 public:
  // The longest line in bytes. A longer line is split into several lines, so that it neither fills the memory nor mixes
  // with lines of other tasks.
  static constexpr size_t kLongestLine = 64 << 10;

  explicit LinePrefixer(absl::string_view prefix) : prefix_(prefix) {}

  // Appends the lines that `bytes` complete to `out`. Bytes are copied unchanged, except in a log line that names its
  // task already, "I0131 12:00:00 file.cc:12] [worker 1] ...": the second name is removed.
  void Add(absl::string_view bytes, std::string* out);
  // Must be called at the end of the process's output. Appends the last line, with a newline, if it had none.
  void Finish(std::string* out);

 private:
  // Appends the prefix and a line that consists of two parts, `begin` and `end`; `end` may have the newline already.
  void AppendLine(absl::string_view begin, absl::string_view end, std::string* out) const;

  const std::string prefix_;
  std::string partial_;  // the beginning of a line whose newline was not read yet
};

}  // namespace tandem

#endif  // TANDEM_TOOLS_LAUNCH_LINE_PREFIXER_H_
