// Library calls for tests.
#ifndef TANDEM_RUNTIME_TESTING_LIBRARY_CALLS_H_
#define TANDEM_RUNTIME_TESTING_LIBRARY_CALLS_H_

#include "runtime/executable_generated.h"

namespace tandem {

// Sizes of a convolution of `n` images [h, w, c] with a kernel [kh, kw, c, o]; pads are the same in both dimensions.
inline fb::LibraryCallT Conv(int n, int h, int w, int c, int kh, int kw, int o, int stride, int low, int high) {
  fb::LibraryCallT call;
  call.x_shape = {n, h, w, c};
  call.kernel_shape = {kh, kw, c, o};
  call.strides = {stride, stride};
  call.pad_low = {low, low};
  call.pad_high = {high, high};
  call.y_shape = {n, (h + low + high - kh) / stride + 1, (w + low + high - kw) / stride + 1, o};
  return call;
}

// The same with channels in groups that do not see each other.
inline fb::LibraryCallT Grouped(int groups, fb::LibraryCallT call) {
  call.kernel_shape[2] /= groups;
  return call;
}

}  // namespace tandem

#endif  // TANDEM_RUNTIME_TESTING_LIBRARY_CALLS_H_
