// Keeps the OpenMP setting of a thread that is lent to Tandem.
#ifndef TANDEM_BASE_ONE_OMP_THREAD_H_
#define TANDEM_BASE_ONE_OMP_THREAD_H_

#include "base/library_exit.h"

// Of OpenMP's library (-lgomp).
extern "C" void omp_set_num_threads(int);
extern "C" int omp_get_max_threads();

namespace tandem {

// During its lifetime, OpenMP uses one thread where the calling thread asks for several. The number is part of a
// primitive of oneDNN, so a primitive must be created with the same setting as it is executed with.
class OneOmpThread {
 public:
  // `doing` must outlive the scope. It is for the message if OpenMP's library gets no memory.
  explicit OneOmpThread(const char* doing) : scope_(doing), before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneOmpThread() { omp_set_num_threads(before_); }
  OneOmpThread(const OneOmpThread&) = delete;
  OneOmpThread& operator=(const OneOmpThread&) = delete;

 private:
  const ExitMeansOutOfMemory scope_;  // OpenMP's library calls exit() when it gets no memory
  const int before_;
};

}  // namespace tandem

#endif  // TANDEM_BASE_ONE_OMP_THREAD_H_
