// Functions that are compiled for several instruction sets, of which the best is chosen when the program starts.
#ifndef TANDEM_BASE_TARGET_CLONES_H_
#define TANDEM_BASE_TARGET_CLONES_H_

// In front of a function. The thread sanitizer does not survive the resolvers, which run before it is set up.
#ifdef TANDEM_SANITIZE_THREAD
#define TD_CLONES
#else
#define TD_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#endif

#endif  // TANDEM_BASE_TARGET_CLONES_H_
