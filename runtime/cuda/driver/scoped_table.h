// ScopedTable: replaces the functions of a library by others in tests.
#ifndef TANDEM_RUNTIME_CUDA_DRIVER_SCOPED_TABLE_H_
#define TANDEM_RUNTIME_CUDA_DRIVER_SCOPED_TABLE_H_

#include <atomic>

namespace tandem {

// During its lifetime, the function that loads the library of type Api returns `api` instead. Only one may exist at a
// time, and no thread may load the library while it is made or destroyed.
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
