#include "data/idx.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/logging.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "base/threads.h"
#include "data/gzip_file.h"

namespace tandem {
namespace {

constexpr int64_t kChunk = 1 << 20;
// What one turn reads, half a millisecond: who waits for the first rows waits for one more turn at most.
constexpr int64_t kReadChunk = 1 << 18;
// Files of no more than that are read before Open returns.
constexpr int64_t kReadAtOnce = 1 << 20;
// A compressed file's header is believed up to this size, since what is never written costs no memory; for more, the
// data is counted first.
constexpr int64_t kTrustedBytes = int64_t{256} << 20;

// How IDX stores an element, and as what it is returned.
struct ElementType {
  int bytes;
  DType dtype;
};

std::optional<ElementType> TypeOfCode(uint8_t code) {
  switch (code) {
    case 0x08:
      return ElementType{1, DType::kUInt8};
    case 0x09:
      return ElementType{1, DType::kInt32};
    case 0x0B:
      return ElementType{2, DType::kInt32};
    case 0x0C:
      return ElementType{4, DType::kInt32};
    case 0x0D:
      return ElementType{4, DType::kFloat32};
    case 0x0E:
      return ElementType{8, DType::kFloat64};
  }
  return std::nullopt;
}

uint32_t BigEndian32(const uint8_t* p) {
  return uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | uint32_t{p[3]};
}

struct Header {
  ElementType type;
  Shape shape;
  int64_t data_bytes = 0;
};

absl::StatusOr<Header> ReadHeader(GzipFile& in) {
  uint8_t magic[4];
  TD_ASSIGN_OR_RETURN(int64_t n, in.Read(magic, 4));
  if (n < 4) return in.Damaged(0, "the file ends within the 4 bytes of the magic number");
  std::optional<ElementType> type = TypeOfCode(magic[2]);
  if (magic[0] != 0 || magic[1] != 0 || !type.has_value()) {
    return in.Damaged(-4, absl::StrFormat("the magic number is %02x%02x%02x%02x; an IDX file begins with 0000, a type "
                                          "(08, 09, 0b, 0c, 0d, 0e) and the number of dimensions",
                                          magic[0], magic[1], magic[2], magic[3]));
  }
  Header header;
  header.type = *type;
  // Of the sizes other than 0: the product must not overflow even where a 0 makes the whole empty.
  int64_t product = 1;
  bool has_zero = false, too_large = false;
  for (int d = 0; d < magic[3]; ++d) {
    uint8_t bytes[4];
    TD_ASSIGN_OR_RETURN(n, in.Read(bytes, 4));
    if (n < 4) return in.Damaged(0, absl::StrCat("the file ends within the sizes of its ", magic[3], " dimensions"));
    int64_t size = BigEndian32(bytes);
    header.shape.push_back(size);
    if (size == 0) {
      has_zero = true;
    } else if (product > INT64_MAX / 8 / size) {
      too_large = true;
    } else {
      product *= size;
    }
  }
  header.data_bytes = has_zero ? 0 : product * type->bytes;
  if (too_large || header.data_bytes > in.max_bytes()) {
    return in.Damaged(0, absl::StrCat("the header promises elements of shape ", ShapeString(header.shape),
                                      ", more than the file can hold (at most ", in.max_bytes(), " bytes)"));
  }
  return header;
}

absl::Status Truncated(const GzipFile& in, const Header& header, int64_t got) {
  return in.Damaged(0, absl::StrCat("the file ends after ", got, " of ", header.data_bytes, " bytes of data (shape ",
                                    ShapeString(header.shape), ")"));
}

// Reads to the end without keeping anything, to see that a large promise is true.
absl::Status VerifySize(GzipFile& in, const Header& header) {
  std::vector<uint8_t> chunk(kChunk);
  const int64_t start = in.offset();
  for (int64_t got = 0; got < header.data_bytes;) {
    TD_ASSIGN_OR_RETURN(int64_t n, in.Read(chunk.data(), std::min(kChunk, header.data_bytes - got)));
    if (n == 0) return Truncated(in, header, got);
    got += n;
  }
  in.Rewind();
  return in.Read(chunk.data(), start).status();
}

// From big-endian file order, `count` elements that are as wide in the file as in the tensor.
void SwapInPlace(int bytes, int64_t count, uint8_t* p) {
  for (int64_t i = 0; i < count; ++i, p += bytes) std::reverse(p, p + bytes);
}

// Elements of one or two bytes in the file.
void WidenToInt32(int bytes, int64_t count, const uint8_t* from, int32_t* to) {
  for (int64_t i = 0; i < count; ++i) {
    to[i] = bytes == 1 ? static_cast<int8_t>(from[i]) : static_cast<int16_t>(from[2 * i] << 8 | from[2 * i + 1]);
  }
}

}  // namespace

struct IdxReader::State {
  explicit State(const std::string& path) : in(path) {}

  // Reads the next elements, and at the end sees that nothing follows.
  absl::Status ReadChunk(HostTensor& tensor);

  GzipFile in;
  Header header;
  int64_t elements = 0;         // that have been read
  std::vector<uint8_t> narrow;  // a chunk of elements that are widened
};

absl::Status IdxReader::State::ReadChunk(HostTensor& tensor) {
  const int bytes = header.type.bytes, wide = SizeOf(header.type.dtype);
  const int64_t count = std::min(kReadChunk / bytes, tensor.num_elements() - elements);
  uint8_t* const to = static_cast<uint8_t*>(tensor.raw()) + elements * wide;
  if (bytes != wide) narrow.resize(kReadChunk);
  uint8_t* const raw = bytes != wide ? narrow.data() : to;
  TD_ASSIGN_OR_RETURN(const int64_t got, in.Read(raw, count * bytes));
  if (got < count * bytes) return Truncated(in, header, elements * bytes + got);
  if (bytes != wide) {
    WidenToInt32(bytes, count, raw, reinterpret_cast<int32_t*>(to));
  } else if (bytes > 1) {
    SwapInPlace(bytes, count, to);
  }
  elements += count;
  if (elements < tensor.num_elements()) return absl::OkStatus();
  // The read past the end also makes gzip's checksum be compared.
  uint8_t extra;
  TD_ASSIGN_OR_RETURN(const int64_t more, in.Read(&extra, 1));
  if (more == 0) return absl::OkStatus();
  return in.Damaged(-1, absl::StrCat("there is more data than the ", header.data_bytes, " bytes of shape ",
                                     ShapeString(header.shape)));
}

IdxReader::IdxReader(const std::string& path) : state_(std::make_unique<State>(path)) {}

IdxReader::~IdxReader() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

absl::StatusOr<std::shared_ptr<IdxReader>> IdxReader::Open(const std::string& path) {
  std::shared_ptr<IdxReader> reader(new IdxReader(path));
  State& state = *reader->state_;
  TD_RETURN_IF_ERROR(state.in.Open());
  TD_ASSIGN_OR_RETURN(state.header, ReadHeader(state.in));
  const Header& header = state.header;
  if (state.in.compressed() && header.data_bytes > kTrustedBytes) TD_RETURN_IF_ERROR(VerifySize(state.in, header));
  TD_RETURN_IF_ERROR(CatchResourceErrors(path, [&] {
    reader->tensor_ = HostTensor(header.type.dtype, header.shape);
    return absl::OkStatus();
  }));
  const Shape& shape = header.shape;
  reader->row_elements_ = 1;
  for (size_t d = 1; d < shape.size(); ++d) reader->row_elements_ *= shape[d];
  reader->rows_ = shape.empty() ? 1 : shape[0];
  if (header.data_bytes <= kReadAtOnce) TD_RETURN_IF_ERROR(reader->WaitForRows(reader->rows_));
  return reader;
}

absl::Status IdxReader::ReadMore() {
  absl::Status status = CatchResourceErrors("reading an IDX file", [&] { return state_->ReadChunk(tensor_); });
  // The last rows only count once the end of the file has been seen, and rows of no elements once there are no more.
  const bool all = state_->elements == tensor_.num_elements();
  ready_ = !status.ok() ? kFailed : all ? kAll : state_->elements / std::max<int64_t>(row_elements_, 1);
  return status;
}

absl::Status IdxReader::WaitForRows(int64_t rows) {
  if (ready_ >= rows) return absl::OkStatus();
  absl::MutexLock lock(&mutex_);
  while (status_.ok() && ready_ < rows) status_ = ReadMore();
  return status_;
}

void IdxReader::FinishInBackground() {
  if (ready_ == kAll || thread_.joinable()) return;
  absl::StatusOr<std::thread> thread = StartThread("reading ahead", [this] {
    // On Linux this is the thread's own priority: whoever has a step to compile or to run comes first.
    setpriority(PRIO_PROCESS, 0, 19);
    while (!stop_ && ready_ != kAll) {
      absl::MutexLock lock(&mutex_);
      if (!status_.ok()) return;
      if (ready_ != kAll) status_ = ReadMore();
    }
  });
  if (thread.ok()) {
    thread_ = *std::move(thread);
  } else {
    TD_LOG(WARNING) << "rows are read when they are needed, not ahead: " << thread.status().message();
  }
}

absl::StatusOr<HostTensor> ReadIdx(const std::string& path) {
  TD_ASSIGN_OR_RETURN(const std::shared_ptr<IdxReader> reader, IdxReader::Open(path));
  TD_RETURN_IF_ERROR(reader->WaitForRows(reader->rows()));
  return reader->tensor();
}

}  // namespace tandem
