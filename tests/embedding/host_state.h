// What of a process belongs to the program that uses Tandem, as text, to compare it before and after.
#ifndef TANDEM_TESTS_EMBEDDING_HOST_STATE_H_
#define TANDEM_TESTS_EMBEDDING_HOST_STATE_H_

#include <map>
#include <string>

namespace tandem::test {

using HostState = std::map<std::string, std::string>;  // "handler of signal 15" -> "0x1234, flags 4, ..."

// Handlers of signals, of uncaught exceptions and of failed allocations. May be read while other threads run.
HostState Handlers();

// The same with the calling thread's signal mask, OpenMP setting and floating-point modes, and the process's locales,
// umask, environment, folder, limits, timers, open descriptors and number of threads. No other thread may make files.
HostState WholeState();

// Returns a line for each difference; "" if there is none.
std::string Differences(const HostState& before, const HostState& after);

}  // namespace tandem::test

#endif  // TANDEM_TESTS_EMBEDDING_HOST_STATE_H_
