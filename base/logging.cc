#include "base/logging.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/printable.h"

namespace tandem {
namespace {

std::atomic<LogSeverity> min_severity{LogSeverity::kInfo};
thread_local LogSeverity thread_min_severity = LogSeverity::kInfo;

struct Shared {
  std::mutex mutex;
  std::string tag;
  LogCapture* capture = nullptr;
};

// Never destroyed: threads may log while the process exits.
Shared& shared() {
  static Shared* s = new Shared;
  return *s;
}

std::string Prefix(LogSeverity severity, const char* file, int line) {
  timeval now;
  gettimeofday(&now, nullptr);
  tm local;
  localtime_r(&now.tv_sec, &local);
  const char* base = std::strrchr(file, '/');
  return absl::StrFormat("%c%02d%02d %02d:%02d:%02d.%06d %5d %s:%d] ", "IWE"[static_cast<int>(severity)],
                         local.tm_mon + 1, local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec,
                         static_cast<int>(now.tv_usec), static_cast<int>(syscall(SYS_gettid)),
                         base == nullptr ? file : base + 1, line);
}

// Returns whether stderr was open when the first line was written.
bool HasStderr() {
  static const bool open = fcntl(STDERR_FILENO, F_GETFD) >= 0;
  return open;
}

void WriteToStderr(absl::string_view text) {
  if (!HasStderr()) return;
  while (!text.empty()) {
    ssize_t n = write(STDERR_FILENO, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // a failed write cannot be reported anywhere, so the rest is lost
    text.remove_prefix(n);
  }
}

}  // namespace

void SetMinLogSeverity(LogSeverity severity) { min_severity = severity; }

ScopedMinLogSeverity::ScopedMinLogSeverity(LogSeverity severity)
    : outer_(std::exchange(thread_min_severity, severity)) {}

ScopedMinLogSeverity::~ScopedMinLogSeverity() { thread_min_severity = outer_; }

void SetLogTag(absl::string_view tag) {
  std::lock_guard<std::mutex> lock(shared().mutex);
  shared().tag = std::string(tag);
}

LogMessage::~LogMessage() {
  if (severity_ < std::max(min_severity.load(), thread_min_severity)) return;
  int saved_errno = errno;
  try {
    std::lock_guard<std::mutex> lock(shared().mutex);
    std::string message = absl::StrCat(shared().tag, stream_.str());
    if (LogCapture* capture = shared().capture; capture != nullptr) {
      std::lock_guard<std::mutex> capture_lock(capture->mutex_);
      capture->entries_.push_back({severity_, std::move(message)});
    } else {
      // Clears the rest of a longer progress line (estimator/hooks/progress_hook.h).
      const char* clear = isatty(STDERR_FILENO) == 1 ? "\033[K" : "";
      WriteToStderr(absl::StrCat(Prefix(severity_, file_, line_), Printable(message), clear, "\n"));
    }
  } catch (const std::bad_alloc&) {
    WriteToStderr("a line of the log is lost: out of memory\n");
  }
  errno = saved_errno;
}

LogCapture::LogCapture() {
  std::lock_guard<std::mutex> lock(shared().mutex);
  outer_ = shared().capture;
  shared().capture = this;
}

LogCapture::~LogCapture() {
  std::lock_guard<std::mutex> lock(shared().mutex);
  shared().capture = outer_;
}

std::vector<LogEntry> LogCapture::entries() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return entries_;
}

std::string LogCapture::Text(LogSeverity min) const {
  std::string text;
  for (const LogEntry& entry : entries()) {
    if (entry.severity >= min) absl::StrAppend(&text, entry.message, "\n");
  }
  return text;
}

bool LogCapture::Contains(absl::string_view part) const { return absl::StrContains(Text(), part); }

}  // namespace tandem
