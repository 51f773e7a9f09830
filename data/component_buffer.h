// ComponentBuffer: memory into which a function writes a component of an element.
#ifndef TANDEM_DATA_COMPONENT_BUFFER_H_
#define TANDEM_DATA_COMPONENT_BUFFER_H_

#include <cstdint>

#include "tandem/base/api.h"
#include "tandem/base/dtype.h"
#include "tandem/base/host_tensor.h"

namespace TANDEM_API tandem {

// Uninitialised memory for a row-major tensor, which is the memory of a HostTensor or of one row of a batch. Does not
// own the memory.
struct ComponentBuffer {
  DType dtype = DType::kInvalid;
  Shape shape;
  void* memory = nullptr;

  // The memory of a tensor, which must outlive the result.
  static ComponentBuffer Of(HostTensor& tensor) { return {tensor.dtype(), tensor.shape(), tensor.raw()}; }

  int64_t num_elements() const {
    int64_t n = 1;
    for (const int64_t size : shape) n *= size;
    return n;
  }
  int64_t byte_size() const { return num_elements() * SizeOf(dtype); }
  // Returns the memory as T*, or null when T is not the element type.
  template <typename T>
  T* data() const {
    return dtype == DTypeOf<T>::value ? static_cast<T*>(memory) : nullptr;
  }
};

}  // namespace tandem

#endif  // TANDEM_DATA_COMPONENT_BUFFER_H_
