#include "tools/launch/output.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tandem {
namespace {

constexpr size_t kFull = 1 << 20;
// The most bytes that are written to a stream before processes and signals are checked again.
constexpr size_t kMostAtOnce = 256 << 10;

bool AreSame(int a, int b) {
  struct stat of_a, of_b;
  return fstat(a, &of_a) == 0 && fstat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

// Returns how many bytes of `text` to write at once. At most PIPE_BUF bytes are written, which a pipe accepts in one
// piece or not at all, and only whole lines if the first line is not too long.
size_t Piece(absl::string_view text) {
  if (text.size() <= PIPE_BUF) return text.size();
  const size_t newline = text.substr(0, PIPE_BUF).rfind('\n');
  return newline == absl::string_view::npos ? PIPE_BUF : newline + 1;
}

}  // namespace

Output::Output()
    : output_{STDOUT_FILENO, ""}, error_{STDERR_FILENO, ""}, same_(AreSame(STDOUT_FILENO, STDERR_FILENO)) {}

bool Output::full() const { return output_.text.size() > kFull || error_.text.size() > kFull; }

void Output::AddTo(std::vector<pollfd>* polled) const {
  for (const Stream* stream : {&output_, &error_}) {
    if (stream->error_number != 0) continue;
    // Even when no event is requested, poll reports when the last reader of a pipe closes it.
    polled->push_back({.fd = stream->fd, .events = static_cast<int16_t>(stream->text.empty() ? 0 : POLLOUT)});
  }
}

void Output::Write() {
  output_.Write();
  error_.Write();
}

void Output::Drop() {
  output_.text.clear();
  error_.text.clear();
}

void Output::Stream::Write() {
  size_t written = 0;
  while (error_number == 0 && written < kMostAtOnce) {
    pollfd ready = {.fd = fd, .events = POLLOUT};
    if (poll(&ready, 1, 0) < 1) break;
    if ((ready.revents & (POLLERR | POLLHUP)) != 0) error_number = EPIPE;
    const absl::string_view rest = absl::string_view(text).substr(written);
    if (error_number != 0 || rest.empty() || (ready.revents & POLLOUT) == 0) break;
    const ssize_t n = write(fd, rest.data(), Piece(rest));
    if (n >= 0) {
      written += n;
    } else if (errno == EAGAIN || errno == EINTR) {
      break;
    } else {
      error_number = errno;
    }
  }
  text.erase(0, error_number == 0 ? written : text.size());
}

}  // namespace tandem
