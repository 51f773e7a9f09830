#include "runtime/cpu/kernels/scatter_add.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace tandem {
namespace {

template <typename T>
class Summer {
 public:
  Summer(const ScatterSource& source, std::vector<T>& scratch)
      : updates_(static_cast<const T*>(source.updates)),
        width_(source.width),
        lane_count_(source.lane_count),
        scratch_(scratch) {
    leaves_ = 1;
    int64_t depth = 1;
    for (; leaves_ < source.lanes; leaves_ *= 2) ++depth;
    if (scratch_.size() < static_cast<size_t>(depth * width_)) scratch_.resize(depth * width_);
  }

  // Sums the updates at the positions [first, last), which are in increasing order; there is at least one.
  void Sum(const int64_t* first, const int64_t* last, T* out) { Tree(first, last, 0, leaves_, out, scratch_.data()); }

 private:
  // Sums the subtree over lanes [lane, lane + size). If one half has no position, the sum is that of the other half.
  void Tree(const int64_t* first, const int64_t* last, int64_t lane, int64_t size, T* out, T* scratch) {
    if (size == 1) return Leaf(first, last, out);
    const int64_t half = size / 2, border = lane + half;
    const int64_t* middle =
        std::partition_point(first, last, [&](int64_t position) { return position / lane_count_ < border; });
    if (middle == last) return Tree(first, last, lane, half, out, scratch);
    if (middle == first) return Tree(first, last, border, half, out, scratch);
    Tree(first, middle, lane, half, out, scratch);
    Tree(middle, last, border, half, scratch, scratch + width_);
    Add(scratch, out);
  }

  void Leaf(const int64_t* first, const int64_t* last, T* out) {
    std::fill_n(out, width_, T{0});
    for (; first != last; ++first) Add(updates_ + *first * width_, out);
  }

  void Add(const T* __restrict from, T* __restrict to) {
    for (int64_t i = 0; i < width_; ++i) to[i] += from[i];
  }

  const T* updates_;
  int64_t width_, lane_count_, leaves_;
  std::vector<T>& scratch_;
};

template <typename T, typename Index>
void Scatter(const ScatterSource& source, int64_t begin, int64_t end, T* table) {
  // The positions of the updates for this range of rows, sorted by row and then by position. Two passes over the
  // indices find them.
  static thread_local std::vector<int64_t> starts, positions;
  static thread_local std::vector<T> scratch;
  const Index* indices = static_cast<const Index*>(source.indices);
  const int64_t rows = end - begin;
  starts.assign(rows + 1, 0);
  for (int64_t i = 0; i < source.count; ++i) {
    const int64_t row = static_cast<int64_t>(indices[i]);
    if (row >= begin && row < end) ++starts[row - begin + 1];
  }
  for (int64_t r = 0; r < rows; ++r) starts[r + 1] += starts[r];
  positions.resize(starts[rows]);
  for (int64_t i = 0; i < source.count; ++i) {
    const int64_t row = static_cast<int64_t>(indices[i]);
    // After this loop, starts[i] is where row i's positions end.
    if (row >= begin && row < end) positions[starts[row - begin]++] = i;
  }
  Summer<T> summer(source, scratch);
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t first = r == 0 ? 0 : starts[r - 1], last = starts[r];
    T* out = table + (begin + r) * source.width;
    if (first == last) {
      std::fill_n(out, source.width, T{0});
    } else {
      summer.Sum(&positions[first], positions.data() + last, out);
    }
  }
}

template <typename T>
void ScatterAny(const ScatterSource& source, int64_t begin, int64_t end, void* table) {
  T* to = static_cast<T*>(table);
  source.index_dtype == DType::kInt32 ? Scatter<T, int32_t>(source, begin, end, to)
                                      : Scatter<T, int64_t>(source, begin, end, to);
}

}  // namespace

void ScatterAddRows(const ScatterSource& source, int64_t begin, int64_t end, void* table) {
  source.dtype == DType::kFloat32 ? ScatterAny<float>(source, begin, end, table)
                                  : ScatterAny<double>(source, begin, end, table);
}

}  // namespace tandem
