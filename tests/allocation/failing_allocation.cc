#include "tests/allocation/failing_allocation.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

namespace tandem {
namespace {

std::atomic<bool> counting{false};
std::atomic<int64_t> count{0}, fails_at{0};
std::atomic<bool> fails_on{false};
const bool trace = std::getenv("TANDEM_TRACE_ALLOCATION") != nullptr;  // where the one that fails is asked for

}  // namespace

static void PrintStack() {
  void* frames[60];
  backtrace_symbols_fd(frames, backtrace(frames, 60), STDERR_FILENO);
}

// Whether the call that asks fails.
bool AllocationFails() {
  if (!counting.load(std::memory_order_relaxed)) return false;
  const int64_t n = count.fetch_add(1, std::memory_order_relaxed) + 1, at = fails_at.load(std::memory_order_relaxed);
  if (at > 0 && n == at && trace) {
    counting = false;  // to describe the place may take memory
    PrintStack();
    counting = true;
  }
  return at > 0 && (n == at || (n > at && fails_on.load(std::memory_order_relaxed)));
}

void FailAllocation(int64_t n, bool sticky) {
  if (trace) {
    for (int s : {SIGABRT, SIGSEGV}) {
      signal(s, [](int ended) {
        counting = false;
        signal(ended, SIG_DFL);
        PrintStack();
        raise(ended);
      });
    }
  }
  count = 0;
  fails_at = n;
  fails_on = sticky;
  counting = true;
}

int64_t StopFailingAllocations() {
  counting = false;
  return count;
}

}  // namespace tandem

// The C library's own, under the names that it has for replacements like these.
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) noexcept {
  if (!tandem::AllocationFails()) return __libc_malloc(size);
  errno = ENOMEM;
  return nullptr;
}

void* calloc(size_t count, size_t size) noexcept {
  if (!tandem::AllocationFails()) return __libc_calloc(count, size);
  errno = ENOMEM;
  return nullptr;
}

void* realloc(void* old, size_t size) noexcept {
  if (!tandem::AllocationFails()) return __libc_realloc(old, size);
  errno = ENOMEM;
  return nullptr;
}

void* memalign(size_t alignment, size_t size) noexcept {
  if (!tandem::AllocationFails()) return __libc_memalign(alignment, size);
  errno = ENOMEM;
  return nullptr;
}

void* aligned_alloc(size_t alignment, size_t size) noexcept { return memalign(alignment, size); }

int posix_memalign(void** out, size_t alignment, size_t size) noexcept {
  void* p = memalign(alignment, size);
  if (p == nullptr) return ENOMEM;
  *out = p;
  return 0;
}

void* mmap(void* address, size_t length, int protection, int flags, int fd, off_t offset) noexcept {
  if (!tandem::AllocationFails()) {
    return reinterpret_cast<void*>(syscall(SYS_mmap, address, length, protection, flags, fd, offset));
  }
  errno = ENOMEM;
  return MAP_FAILED;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) noexcept {
  static const auto real = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return tandem::AllocationFails() ? EAGAIN : real(thread, attributes, start, argument);
}
}
