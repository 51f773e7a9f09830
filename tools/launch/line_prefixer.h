// LinePrefixer: the output of one process, cut into whole lines that say who printed them.
#ifndef TANDEM_TOOLS_LAUNCH_LINE_PREFIXER_H_
#define TANDEM_TOOLS_LAUNCH_LINE_PREFIXER_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace tandem {

class LinePrefixer {
 public:
  // A longer line is passed on as several lines, so that it neither fills the memory nor mixes with those of others.
  static constexpr size_t kLongestLine = 64 << 10;

  explicit LinePrefixer(absl::string_view prefix) : prefix_(prefix) {}

  // Appends the lines that `bytes` complete to `out`. Bytes are passed on as they are, but for a line of the log that
  // names its task already, "I0131 12:00:00 file.cc:12] [worker 1] ...": it is named once.
  void Add(absl::string_view bytes, std::string* out);
  // The process prints nothing more: appends what is left, with the newline that it lacks.
  void Finish(std::string* out);

 private:
  // Appends a line of these two parts, which may have a newline.
  void AppendLine(absl::string_view begin, absl::string_view end, std::string* out) const;

  const std::string prefix_;
  std::string partial_;  // a line without its newline
};

}  // namespace tandem

#endif  // TANDEM_TOOLS_LAUNCH_LINE_PREFIXER_H_
