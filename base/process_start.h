// How long this process has been running.
#ifndef TANDEM_BASE_PROCESS_START_H_
#define TANDEM_BASE_PROCESS_START_H_

namespace tandem {

// Seconds since the process was started, dynamic linking included, in steps of the kernel's clock tick (10 ms); -1
// where the system does not tell.
double SecondsSinceProcessStart();

}  // namespace tandem

#endif  // TANDEM_BASE_PROCESS_START_H_
