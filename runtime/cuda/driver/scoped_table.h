// Tables of functions that stand for a library in tests.
#ifndef TANDEM_RUNTIME_CUDA_DRIVER_SCOPED_TABLE_H_
#define TANDEM_RUNTIME_CUDA_DRIVER_SCOPED_TABLE_H_

#include <atomic>

namespace tandem {

// Replaces the result of the function that loads the library of type Api, until it is destroyed. For tests; one at a
// time, not while others load.
template <typename Api>
class ScopedTable {
 public:
  explicit ScopedTable(const Api* api) { current_.store(api); }
  ~ScopedTable() { current_.store(nullptr); }
  ScopedTable(const ScopedTable&) = delete;
  ScopedTable& operator=(const ScopedTable&) = delete;

  // Returns the table that replaces the library, or null.
  static const Api* Current() { return current_.load(); }

 private:
  static inline std::atomic<const Api*> current_{nullptr};
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_DRIVER_SCOPED_TABLE_H_
