#include "base/host_tensor.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/align.h"
#include "base/element_count.h"
#include "base/resource_errors.h"
#include "base/user_code.h"

namespace tandem {
namespace {

constexpr std::align_val_t kAlignment{64};

// Buffers of at least this many bytes get their own pages. Batches are made in one thread and freed in another; with
// malloc they would make heaps grow that are not returned to the system (27 MiB in a training run with batches of
// 1.6 MB).
constexpr size_t kMapBytes = 1 << 20;

// Buffers of up to this many bytes, such as a step's loss, share an allocation with their reference count, because
// allocating memory at a multiple of 64 bytes is slow.
constexpr size_t kSmallBytes = 64;
struct SmallBuffer {
  uint8_t bytes[2 * kSmallBytes - 1];
};

// Keeps the last freed pages for the next buffer of the same size: a batch of 1.6 MB has 400 pages, and touching them
// for the first time takes most of the time to make it.
class KeptPages {
 public:
  // Never destroyed: tensors may be freed when a program ends.
  static KeptPages& Get() {
    static KeptPages* kept = new KeptPages;
    return *kept;
  }

  // Returns the kept pages of exactly this size; null if there are none.
  void* Take(size_t bytes) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (Pages& pages : pages_) {
      if (pages.bytes == bytes) return std::exchange(pages, Pages()).begin;
    }
    return nullptr;
  }

  void Give(void* begin, size_t bytes) {
    Pages dropped = {begin, bytes};
    if (bytes <= kMaxKeptBytes) {
      std::lock_guard<std::mutex> lock(mutex_);
      std::swap(dropped, pages_[oldest_]);
      oldest_ = (oldest_ + 1) % std::size(pages_);
    }
    if (dropped.begin != nullptr) munmap(dropped.begin, dropped.bytes);
  }

 private:
  static constexpr size_t kMaxKeptBytes = 64 << 20;
  struct Pages {
    void* begin = nullptr;
    size_t bytes = 0;
  };

  std::mutex mutex_;
  Pages pages_[2];
  size_t oldest_ = 0;
};

std::shared_ptr<uint8_t> Allocate(size_t bytes) {
  if (bytes <= kSmallBytes) {
    auto buffer = std::make_shared_for_overwrite<SmallBuffer>();
    const auto begin = reinterpret_cast<uintptr_t>(buffer->bytes);
    uint8_t* aligned = buffer->bytes + (AlignUp(begin, kSmallBytes) - begin);
    return std::shared_ptr<uint8_t>(std::move(buffer), aligned);
  }
  if (bytes >= kMapBytes) {
    void* pages = KeptPages::Get().Take(bytes);
    if (pages == nullptr) pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages != MAP_FAILED) {
      return std::shared_ptr<uint8_t>(static_cast<uint8_t*>(pages),
                                      [bytes](uint8_t* p) { KeptPages::Get().Give(p, bytes); });
    }
  }
  void* buffer = ::operator new(bytes, kAlignment, std::nothrow);
  if (buffer == nullptr) throw AllocationError(bytes, "a tensor");
  return std::shared_ptr<uint8_t>(static_cast<uint8_t*>(buffer), [](uint8_t* p) { ::operator delete(p, kAlignment); });
}

// Returns at least `bytes` bytes for a caller that asks for data of the wrong type. They are zeros, unless earlier
// callers have written to them. The memory stays allocated for the thread's lifetime, because callers may still have
// pointers to it.
void* ZerosForNobody(size_t bytes) {
  constexpr size_t kLeast = 1 << 16;
  thread_local std::vector<std::unique_ptr<uint8_t[]>> all;
  thread_local size_t largest = 0;
  if (bytes > largest || largest == 0) {
    largest = std::max({bytes, 2 * largest, kLeast});
    all.push_back(std::make_unique<uint8_t[]>(largest));
  }
  return all.back().get();
}

// Returns sizes as numbers, such as "[-1,3]". ShapeString would write -1 as the symbolic batch.
std::string SizesString(const Shape& shape) { return absl::StrCat("[", absl::StrJoin(shape, ","), "]"); }

}  // namespace

HostTensor::HostTensor(DType dtype, Shape shape, SourceLocation location) {
  if (dtype == DType::kString) {
    *this = WithStringBytes(std::move(shape), 0, location);
    if (!empty()) std::memset(buffer_.get(), 0, (num_elements_ + 1) * sizeof(int64_t));
    return;
  }
  const int64_t elements = CheckedNumElements(shape);
  if (elements < 0 || SizeOf(dtype) == 0) {
    *this = Failed("HostTensor",
                   elements < 0 ? absl::StrCat("a tensor cannot have the shape ", SizesString(shape),
                                               ": sizes must be >= 0, and all elements fit into memory")
                                : "a tensor needs an element type",
                   location);
    return;
  }
  dtype_ = dtype;
  shape_ = std::move(shape);
  num_elements_ = elements;
  buffer_ = Allocate(static_cast<size_t>(byte_size()));
}

HostTensor HostTensor::WithStringBytes(Shape shape, int64_t bytes, SourceLocation location) {
  // A string has a 64-bit offset, so the number of strings is limited as if they were 8-byte elements.
  const int64_t elements = CheckedNumElements(shape);
  if (elements < 0) {
    return Failed("HostTensor",
                  absl::StrCat("a tensor cannot have the shape ", SizesString(shape),
                               ": sizes must be >= 0, and all elements fit into memory"),
                  location);
  }
  HostTensor t;
  t.dtype_ = DType::kString;
  t.shape_ = std::move(shape);
  t.num_elements_ = elements;
  t.buffer_ = Allocate((elements + 1) * sizeof(int64_t) + bytes);
  return t;
}

HostTensor HostTensor::FromStrings(Shape shape, absl::Span<const absl::string_view> strings, SourceLocation location) {
  const int64_t elements = CheckedNumElements(shape);
  if (elements >= 0 && static_cast<size_t>(elements) != strings.size()) {
    return Failed("HostTensor::FromStrings",
                  absl::StrCat("the shape ", SizesString(shape), " has ", elements, " elements, but ", strings.size(),
                               strings.size() == 1 ? " string is given" : " strings are given"),
                  location);
  }
  int64_t bytes = 0;
  for (absl::string_view s : strings) bytes += s.size();
  HostTensor t = WithStringBytes(std::move(shape), bytes, location);
  if (t.empty()) return t;
  int64_t* offsets = reinterpret_cast<int64_t*>(t.buffer_.get());
  char* to = reinterpret_cast<char*>(offsets + elements + 1);
  *offsets = 0;
  for (absl::string_view s : strings) {
    if (!s.empty()) std::memcpy(to + *offsets, s.data(), s.size());
    offsets[1] = offsets[0] + static_cast<int64_t>(s.size());
    ++offsets;
  }
  return t;
}

HostTensor HostTensor::FromStrings(Shape shape, const std::vector<std::string>& strings, SourceLocation location) {
  const std::vector<absl::string_view> views(strings.begin(), strings.end());
  return FromStrings(std::move(shape), absl::MakeConstSpan(views), location);
}

HostTensor HostTensor::Failed(absl::string_view function, absl::string_view problem, SourceLocation location) {
  auto* text = new std::string(absl::StrCat(location.file, ":", location.line, ": ", function, ": ", problem));
  HostTensor t;
  t.buffer_ = std::shared_ptr<uint8_t>(reinterpret_cast<uint8_t*>(text->data()), [text](uint8_t*) { delete text; });
  return t;
}

HostTensor HostTensor::ForValues(DType dtype, Shape shape, size_t count, SourceLocation location) {
  const int64_t elements = CheckedNumElements(shape);
  if (elements >= 0 && static_cast<size_t>(elements) != count) {
    return Failed("HostTensor::FromVector",
                  absl::StrCat("the shape ", SizesString(shape), " has ", elements, " elements, but ", count,
                               count == 1 ? " value is given" : " values are given"),
                  location);
  }
  return HostTensor(dtype, std::move(shape), location);
}

absl::Status HostTensor::status() const {
  if (!empty() || buffer_ == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(reinterpret_cast<const char*>(buffer_.get()));
}

void* HostTensor::NoData(DType asked, SourceLocation location) const {
  if (empty() && buffer_ == nullptr) return nullptr;
  ReportUserError(empty()
                      ? status()
                      : absl::InvalidArgumentError(absl::StrCat(
                            location.file, ":", location.line, ": HostTensor::data<", CppName(asked),
                            ">: the tensor is ", Name(dtype_), " ", SizesString(shape_), "; ask for ",
                            dtype_ == DType::kString ? "string()" : absl::StrCat("data<", CppName(dtype_), ">()"))));
  return ZerosForNobody(num_elements_ * SizeOf(asked));
}

HostTensor HostTensor::Zeros(DType dtype, Shape shape, SourceLocation location) {
  HostTensor t(dtype, std::move(shape), location);
  if (t.byte_size() > 0) std::memset(t.raw(), 0, t.byte_size());
  return t;
}

HostTensor HostTensor::Clone() const {
  if (empty()) return *this;
  HostTensor t = dtype_ == DType::kString ? WithStringBytes(shape_, Offsets()[num_elements_], SourceLocation::Current())
                                          : HostTensor(dtype_, shape_);
  if (byte_size() > 0) std::memcpy(t.raw(), raw(), byte_size());
  return t;
}

HostTensor HostTensor::Reshaped(Shape shape, SourceLocation location) const {
  if (empty()) return *this;
  if (CheckedNumElements(shape) != num_elements_) {
    return Failed("HostTensor::Reshaped",
                  absl::StrCat("a tensor of shape ", SizesString(shape_), " cannot have the shape ", SizesString(shape),
                               ": the numbers of elements differ"),
                  location);
  }
  HostTensor t = *this;
  t.shape_ = std::move(shape);
  return t;
}

bool HostTensor::BitEqual(const HostTensor& other) const {
  return dtype_ == other.dtype_ && shape_ == other.shape_ && byte_size() == other.byte_size() &&
         (byte_size() == 0 || std::memcmp(raw(), other.raw(), byte_size()) == 0);
}

}  // namespace tandem
