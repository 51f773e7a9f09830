// Processor time, which, unlike wall time, does not grow because of other processes on the machine.
#ifndef TANDEM_BASE_PROCESSOR_TIME_H_
#define TANDEM_BASE_PROCESSOR_TIME_H_

#include <time.h>

namespace tandem {

// Returns the seconds that the calling thread, or all threads of the process, have run so far, user and system
// together.
inline double SecondsOf(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
inline double ThreadProcessorSeconds() { return SecondsOf(CLOCK_THREAD_CPUTIME_ID); }
inline double ProcessProcessorSeconds() { return SecondsOf(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace tandem

#endif  // TANDEM_BASE_PROCESSOR_TIME_H_
