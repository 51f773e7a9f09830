#include "runtime/collectives/reduction_tree.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/sums.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

using format::ReduceKind;

constexpr int64_t kBlock = 256;  // elements of a block: 16 leaves and the temporaries stay in the first-level cache
constexpr int kMaxDepth = 24;

template <typename T>
T SumOf(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;  // overflow wraps
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  } else {
    return static_cast<T>(a + b);
  }
}

template <typename T>
T MaxOf(T a, T b) {
  return a > b || a != a ? a : b;
}

template <typename T>
void Max(T* out, const T* a, const T* b, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = MaxOf(a[i], b[i]);
}

template <typename T>
void Op(ReduceKind kind, T* out, const T* a, const T* b, int64_t n) {
  kind == ReduceKind::kMax ? Max(out, a, b, n) : AddArrays(out, a, b, n);
}

// Returns the identity of Max.
template <typename T>
T Lowest() {
  if constexpr (std::is_same_v<T, BFloat16>) {
    return BFloat16(-std::numeric_limits<float>::infinity());
  } else if constexpr (std::numeric_limits<T>::has_infinity) {
    return -std::numeric_limits<T>::infinity();
  } else {
    return std::numeric_limits<T>::lowest();
  }
}

template <typename T>
T Quotient(T value, int64_t divisor) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    return BFloat16(value / static_cast<float>(divisor));
  } else {
    return value / static_cast<T>(divisor);
  }
}

int64_t PowerOfTwoAtLeast(int64_t n) {
  int64_t p = 1;
  while (p < n) p *= 2;
  return p;
}

// Evaluates the tree for one block of elements. A node's value is a leaf itself, or is written to the `destination`
// that its parent passes. The sum of the root's two subtrees is written to `result`, which may be a leaf, because no
// leaf is read after that.
template <typename T>
struct BlockTree {
  ReduceKind kind;
  absl::Span<const void* const> leaves;
  int64_t offset, n;
  T* result;
  T temporaries[kMaxDepth][kBlock];

  // Prefetches the leaf's next block, because the core's own prefetchers cannot follow as many streams as there are
  // leaves.
  static void FetchNext(const T* block) {
    const char* next = reinterpret_cast<const char*>(block + kBlock);
    for (size_t at = 0; at < kBlock * sizeof(T); at += 64) __builtin_prefetch(next + at, /*rw=*/0, /*locality=*/2);
  }

  const T* Eval(int64_t first, int64_t size, int depth, T* destination) {
    if (first >= static_cast<int64_t>(leaves.size())) return nullptr;
    if (size == 1) {
      if (leaves[first] == nullptr) return nullptr;
      const T* leaf = static_cast<const T*>(leaves[first]) + offset;
      FetchNext(leaf);
      return leaf;
    }
    const T* left = Eval(first, size / 2, depth + 1, destination);
    const T* right = Eval(first + size / 2, size / 2, depth + 1, left == nullptr ? destination : temporaries[depth]);
    if (left == nullptr || right == nullptr) return left == nullptr ? right : left;
    if (depth == 0) destination = result;
    Op(kind, destination, left, right, n);
    return destination;
  }
};

// Returns element `i` of the tree over kLeaves leaves.
template <int64_t kLeaves, typename T, T (*combine)(T, T)>
T TreeElement(const void* const* leaves, int64_t i) {
  if constexpr (kLeaves == 1) {
    return static_cast<const T*>(leaves[0])[i];
  } else {
    return combine(TreeElement<kLeaves / 2, T, combine>(leaves, i),
                   TreeElement<kLeaves / 2, T, combine>(leaves + kLeaves / 2, i));
  }
}

// Evaluates the tree for kLeaves leaves, or twice as many, and so on up to 32. False for other numbers of leaves.
template <int64_t kLeaves, typename T>
bool ReduceFewOf(ReduceKind kind, absl::Span<const void* const> leaves, T* out, int64_t n) {
  if (leaves.size() == kLeaves) {
    for (int64_t i = 0; i < n; ++i) {
      out[i] = kind == ReduceKind::kMax ? TreeElement<kLeaves, T, MaxOf<T>>(leaves.data(), i)
                                        : TreeElement<kLeaves, T, SumOf<T>>(leaves.data(), i);
    }
    return true;
  }
  if constexpr (kLeaves < 32) return ReduceFewOf<2 * kLeaves>(kind, leaves, out, n);
  return false;
}

// Evaluates the same tree without recursion for a handful of elements, where calls would take longer than the sums.
// False for other cases: absent leaves, means, many elements, another number of leaves.
template <typename T>
bool ReduceFew(ReduceKind kind, absl::Span<const void* const> leaves, T* out, int64_t n) {
  constexpr int64_t kElements = 4;
  if (n > kElements || kind == ReduceKind::kMean) return false;
  if (std::find(leaves.begin(), leaves.end(), nullptr) != leaves.end()) return false;
  return ReduceFewOf<1>(kind, leaves, out, n);
}

template <typename T>
void Reduce(ReduceKind kind, absl::Span<const void* const> leaves, T* out, int64_t n) {
  if (ReduceFew(kind, leaves, out, n)) return;
  int64_t present = leaves.size() - std::count(leaves.begin(), leaves.end(), nullptr);
  if (present == 0) {
    std::fill(out, out + n, kind == ReduceKind::kMax ? Lowest<T>() : T(0));
    return;
  }
  int64_t size = PowerOfTwoAtLeast(leaves.size());
  BlockTree<T> tree;
  tree.kind = kind;
  tree.leaves = leaves;
  // `out` may be a leaf that is read later in the block, so partial sums go to `left`.
  alignas(64) T left[kBlock];
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    tree.offset = begin;
    tree.n = std::min(kBlock, n - begin);
    tree.result = out + begin;
    const T* value = tree.Eval(0, size, 0, left);
    if (kind == ReduceKind::kMean) {
      for (int64_t i = 0; i < tree.n; ++i) out[begin + i] = Quotient(value[i], present);
    } else if (value != out + begin) {
      std::memcpy(out + begin, value, tree.n * sizeof(T));
    }
  }
}

// Calls `function` with `values` as a pointer to the dtype's numbers.
template <typename Function>
void WithNumbers(DType dtype, void* values, const Function& function) {
  switch (dtype) {
    case DType::kFloat32:
      return function(static_cast<float*>(values));
    case DType::kFloat64:
      return function(static_cast<double*>(values));
    case DType::kBFloat16:
      return function(static_cast<BFloat16*>(values));
    case DType::kInt32:
      return function(static_cast<int32_t*>(values));
    case DType::kInt64:
      return function(static_cast<int64_t*>(values));
    default:
      return;  // the loader refuses executables with such types
  }
}

}  // namespace

void TreeReduce(ReduceKind kind, DType dtype, absl::Span<const void* const> leaves, void* out, int64_t n) {
  WithNumbers(dtype, out, [&](auto* to) { Reduce(kind, leaves, to, n); });
}

void Combine(ReduceKind kind, DType dtype, void* a, const void* b, int64_t n) {
  WithNumbers(dtype, a, [&](auto* x) { Op(kind, x, x, static_cast<const std::remove_pointer_t<decltype(x)>*>(b), n); });
}

void Divide(DType dtype, void* values, int64_t divisor, int64_t n) {
  WithNumbers(dtype, values, [&](auto* v) {
    for (int64_t i = 0; i < n; ++i) v[i] = Quotient(v[i], divisor);
  });
}

}  // namespace tandem
