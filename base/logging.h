// Log lines on stderr in glog's form: `I1121 03:44:36.123456 12345 file.cc:12] message`.
//
//   TD_LOG(INFO) << "Saving checkpoints for " << step << " into " << path << ".";
//
// Each line is one write(2), so that lines of threads and processes do not mix. Control characters are escaped
// (printable.h); a line that cannot be written is lost, and nothing else. In a process without a stderr all lines are
// lost: a file or a socket may get its number later. Results for other programs go to stdout and are not log lines.
#ifndef TANDEM_BASE_LOGGING_H_
#define TANDEM_BASE_LOGGING_H_

#include <locale>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tandem/base/api.h"

namespace TANDEM_API tandem {

// How serious a line is.
enum class LogSeverity { kInfo = 0, kWarning = 1, kError = 2 };

// Lines below `severity` are dropped. Default kInfo.
void SetMinLogSeverity(LogSeverity severity);

// During its lifetime, lines of this thread below `severity` are dropped too. Of nested scopes only the innermost
// counts.
class ScopedMinLogSeverity {
 public:
  explicit ScopedMinLogSeverity(LogSeverity severity);
  ~ScopedMinLogSeverity();
  ScopedMinLogSeverity(const ScopedMinLogSeverity&) = delete;
  ScopedMinLogSeverity& operator=(const ScopedMinLogSeverity&) = delete;

 private:
  const LogSeverity outer_;
};

// Text before each message, such as "[worker 2] " in a job of several workers. Default empty.
void SetLogTag(absl::string_view tag);

// A line that LogCapture has stored.
struct LogEntry {
  LogSeverity severity;
  std::string message;  // the line without its prefix, but with the tag (SetLogTag)
};

// During its lifetime, log lines are stored here and not written to stderr. For tests. Captures nest: the innermost one
// gets the lines.
class LogCapture {
 public:
  LogCapture();
  ~LogCapture();
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;

  // The lines so far.
  std::vector<LogEntry> entries() const;
  // All messages of at least this severity, one per line.
  std::string Text(LogSeverity min_severity = LogSeverity::kInfo) const;
  // True if a line contains `part`.
  bool Contains(absl::string_view part) const;

 private:
  friend class LogMessage;
  mutable std::mutex mutex_;
  std::vector<LogEntry> entries_;
  LogCapture* outer_;
};

// One log line, written by the destructor. Use TD_LOG.
class LogMessage {
 public:
  LogMessage(LogSeverity severity, const char* file, int line) : severity_(severity), file_(file), line_(line) {
    stream_.imbue(std::locale::classic());  // numbers look alike, whatever std::locale the program has set
  }
  ~LogMessage();
  std::ostream& stream() { return stream_; }

 private:
  LogSeverity severity_;
  const char* file_;
  int line_;
  std::ostringstream stream_;
};

}  // namespace tandem

#define TD_LOG_SEVERITY_INFO ::tandem::LogSeverity::kInfo
#define TD_LOG_SEVERITY_WARNING ::tandem::LogSeverity::kWarning
#define TD_LOG_SEVERITY_ERROR ::tandem::LogSeverity::kError

// A stream for one line: TD_LOG(INFO) << text. The severity is INFO, WARNING or ERROR.
#define TD_LOG(severity) ::tandem::LogMessage(TD_LOG_SEVERITY_##severity, __FILE__, __LINE__).stream()

#endif  // TANDEM_BASE_LOGGING_H_
