// Compiles functions for several instruction sets; the best version is chosen when the program starts.
#ifndef TANDEM_BASE_TARGET_CLONES_H_
#define TANDEM_BASE_TARGET_CLONES_H_

// TD_CLONES is to be written before a function. It is empty with the thread sanitizer, which crashes in the resolvers
// of clones because they run before it is set up.
#ifdef TANDEM_SANITIZE_THREAD
#define TD_CLONES
#else
#define TD_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#endif

#endif  // TANDEM_BASE_TARGET_CLONES_H_
