// Lets the n-th allocation of this process fail: malloc and its relatives, operator new, mmap and starts of threads, of
// all libraries too. Linking this file replaces the C library's functions.
#ifndef TANDEM_TESTS_ALLOCATION_FAILING_ALLOCATION_H_
#define TANDEM_TESTS_ALLOCATION_FAILING_ALLOCATION_H_

#include <cstdint>

namespace tandem {

// Counts from 1 from now on, and lets allocation `n` fail (0: none), or with `sticky` that one and all behind it.
void FailAllocation(int64_t n, bool sticky = false);
// How many there were since; none fails from now on.
int64_t StopFailingAllocations();

}  // namespace tandem

#endif  // TANDEM_TESTS_ALLOCATION_FAILING_ALLOCATION_H_
