// SigpipeBlock: writes to a closed connection fail instead of killing the process.
#ifndef TANDEM_RUNTIME_COLLECTIVES_SIGPIPE_BLOCK_H_
#define TANDEM_RUNTIME_COLLECTIVES_SIGPIPE_BLOCK_H_

#include <signal.h>
#include <time.h>

namespace tandem {

// While it lives, this thread, and any threads that it starts then (for all their life), get no SIGPIPE: Gloo writes
// without MSG_NOSIGNAL.
class SigpipeBlock {
 public:
  SigpipeBlock() {
    sigset_t pending;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~SigpipeBlock() {
    if (sigismember(&before_, SIGPIPE) == 1) return;
    const timespec now = {};
    if (!was_pending_) sigtimedwait(&pipe_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SigpipeBlock(const SigpipeBlock&) = delete;
  SigpipeBlock& operator=(const SigpipeBlock&) = delete;

 private:
  sigset_t pipe_, before_;
  bool was_pending_ = false;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_SIGPIPE_BLOCK_H_
