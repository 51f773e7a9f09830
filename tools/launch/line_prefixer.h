// LinePrefixer: splits the output of one process into whole lines, and prefixes each with the name of its task.
#ifndef TANDEM_TOOLS_LAUNCH_LINE_PREFIXER_H_
#define TANDEM_TOOLS_LAUNCH_LINE_PREFIXER_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace tandem {

class LinePrefixer {
 public:
  // A longer line is split into several lines, so that it neither fills the memory nor mixes with lines of other tasks.
  static constexpr size_t kLongestLine = 64 << 10;

  explicit LinePrefixer(absl::string_view prefix) : prefix_(prefix) {}

  // Appends the lines that `bytes` complete to `out`. Bytes are copied unchanged, except in a log line that names its
  // task already, "I0131 12:00:00 file.cc:12] [worker 1] ...": the second name is removed.
  void Add(absl::string_view bytes, std::string* out);
  // To be called at the end of the output: appends the rest with a newline.
  void Finish(std::string* out);

 private:
  // Appends a line that consists of these two parts; it may end with a newline.
  void AppendLine(absl::string_view begin, absl::string_view end, std::string* out) const;

  const std::string prefix_;
  std::string partial_;  // the beginning of a line without its newline
};

}  // namespace tandem

#endif  // TANDEM_TOOLS_LAUNCH_LINE_PREFIXER_H_
