// A large matrix product, with whose rate on this machine the benchmarks compare compiled steps.
#ifndef TANDEM_BENCHMARKS_MATMUL_RATE_H_
#define TANDEM_BENCHMARKS_MATMUL_RATE_H_

#include <memory>

namespace tandem::benchmarks {

// A 1024^3 float32 matmul, computed by oneDNN on `threads` OpenMP threads.
class Matmul {
 public:
  static constexpr double kFlops = 2.0 * 1024 * 1024 * 1024;
  explicit Matmul(int threads);
  ~Matmul();
  // Computes the product once. Call it from the thread that made this object. Afterwards OpenMP's number of threads is
  // 1.
  void Run();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tandem::benchmarks

#endif  // TANDEM_BENCHMARKS_MATMUL_RATE_H_
