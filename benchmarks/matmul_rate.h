// The machine's rate in a large matrix product, which the compiled steps are compared with.
#ifndef TANDEM_BENCHMARKS_MATMUL_RATE_H_
#define TANDEM_BENCHMARKS_MATMUL_RATE_H_

#include <memory>

namespace tandem::benchmarks {

// A 1024^3 float32 matmul as oneDNN runs it on `threads` OpenMP threads.
class Matmul {
 public:
  static constexpr double kFlops = 2.0 * 1024 * 1024 * 1024;
  explicit Matmul(int threads);
  ~Matmul();
  // Once. Calls from the thread it was made on; OpenMP's number of threads is 1 afterwards.
  void Run();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tandem::benchmarks

#endif  // TANDEM_BENCHMARKS_MATMUL_RATE_H_
