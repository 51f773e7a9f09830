// Processor time, which other processes on the machine do not lengthen as they do the time on the wall.
#ifndef TANDEM_BASE_PROCESSOR_TIME_H_
#define TANDEM_BASE_PROCESSOR_TIME_H_

#include <time.h>

namespace tandem {

// Seconds that the calling thread, or all threads of the process, have run until now, user and system together.
inline double SecondsOf(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
inline double ThreadProcessorSeconds() { return SecondsOf(CLOCK_THREAD_CPUTIME_ID); }
inline double ProcessProcessorSeconds() { return SecondsOf(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace tandem

#endif  // TANDEM_BASE_PROCESSOR_TIME_H_
