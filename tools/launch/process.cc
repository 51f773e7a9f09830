#include "tools/launch/process.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/posix_error.h"

namespace tandem {
namespace {

constexpr size_t kReadBytes = 64 << 10;

// True if the process group has a process that is a child of this one. Orphaned processes become children too, because
// the launcher adopts them (Launch). So when this returns false the group is empty, and its id is not used any more,
// because the system may assign it again.
bool HasMembers(pid_t group) {
  siginfo_t info;
  return RetryInterrupted([&] { return waitid(P_PGID, group, &info, WEXITED | WNOHANG | WNOWAIT); }) == 0;
}

}  // namespace

Process::Process(const Task& task, const Child& child, absl::string_view prefix, Output* output)
    : streams_{Stream{child.output, LinePrefixer(prefix), output->output()},
               Stream{child.error, LinePrefixer(prefix), output->error()}} {
  end_.task = task;
  end_.pid = child.pid;
}

Process::~Process() {
  if (!over_) kill(-end_.pid, SIGKILL);
  if (!ended_) RetryInterrupted([&] { return waitpid(end_.pid, nullptr, 0); });
  for (Stream& stream : streams_) Close(&stream);
}

void Process::Stop(int signal, double now, double grace_seconds) {
  if (over_ || stopped_) return;
  stopped_ = true;
  kill_at_ = now + grace_seconds;
  kill(-end_.pid, signal);
}

void Process::Kill() {
  kill_at_ = std::numeric_limits<double>::infinity();
  if (over_) return;
  stopped_ = true;
  kill(-end_.pid, SIGKILL);
}

void Process::OnExit(int status, double now) {
  ended_ = true;
  end_.seconds = now;
  end_.stopped = stopped_;
  if (WIFSIGNALED(status)) {
    end_.signal = WTERMSIG(status);
  } else {
    end_.code = WEXITSTATUS(status);
  }
}

void Process::CheckGroup(double now, double grace_seconds) {
  if (!ended_ || over_) return;
  if (HasMembers(end_.pid)) return Stop(SIGTERM, now, grace_seconds);
  over_ = true;
  kill_at_ = std::numeric_limits<double>::infinity();
  // Reads only what is in the pipes now, because a daemon outside of the group may go on writing for ever.
  constexpr int kMostReads = 32;
  for (int stream = 0; stream < kStreams; ++stream) {
    for (int i = 0; i < kMostReads && fd(stream) >= 0; ++i) Read(stream);
    Close(&streams_[stream]);
  }
}

void Process::Read(int stream) {
  char bytes[kReadBytes];
  Stream& from = streams_[stream];
  const ssize_t n = RetryInterrupted([&] { return read(from.fd, bytes, sizeof(bytes)); });
  if (n > 0) {
    from.lines.Add(absl::string_view(bytes, n), from.out);
  } else if (n == 0 || errno != EAGAIN) {
    Close(&from);
  }
}

void Process::Close(Stream* stream) {
  if (stream->fd < 0) return;
  stream->lines.Finish(stream->out);
  close(stream->fd);
  stream->fd = -1;
}

}  // namespace tandem
