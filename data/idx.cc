#include "data/idx.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

constexpr int64_t kChunk = 1 << 20;
// Deflate cannot expand by more than 1032:1.
constexpr int64_t kMaxExpansion = 1032;
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

// A file read through zlib, which passes plain files through.
class Input {
 public:
  explicit Input(std::string path) : path_(std::move(path)) {}
  ~Input() {
    if (file_ != nullptr) gzclose(file_);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  absl::Status Open() {
    int fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;
    if (fd < 0 || fstat(fd, &info) != 0) {
      int error = errno;
      if (fd >= 0) close(fd);
      return absl::ErrnoToStatus(error, absl::StrCat("cannot open ", path_));
    }
    if (!S_ISREG(info.st_mode)) {
      close(fd);
      return absl::InvalidArgumentError(absl::StrCat("cannot read ", path_, ": it is not a regular file"));
    }
    file_bytes_ = info.st_size;
    file_ = gzdopen(fd, "rb");
    if (file_ == nullptr) {
      close(fd);
      return absl::ResourceExhaustedError(absl::StrCat("cannot read ", path_, ": out of memory"));
    }
    gzbuffer(file_, 1 << 18);
    return absl::OkStatus();
  }

  // Reads up to `bytes`; less only at the end of the data.
  absl::StatusOr<int64_t> Read(void* to, int64_t bytes) {
    int64_t done = 0;
    while (done < bytes) {
      int n = gzread(file_, static_cast<uint8_t*>(to) + done, std::min(bytes - done, kChunk));
      if (n <= 0) {
        int error = Z_OK;
        const char* message = gzerror(file_, &error);
        if (error == Z_ERRNO) return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path_));
        if (error == Z_BUF_ERROR) return Damaged(done, "the compressed data ends too early");
        if (error != Z_OK && error != Z_STREAM_END) return Damaged(done, absl::StrCat("gzip: ", message));
        break;
      }
      done += n;
    }
    offset_ += done;
    return done;
  }

  absl::Status Rewind() {
    if (gzrewind(file_) != 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path_));
    offset_ = 0;
    return absl::OkStatus();
  }

  // DataLoss at `ahead` bytes after the last one that was returned.
  absl::Status Damaged(int64_t ahead, absl::string_view what) const {
    return absl::DataLossError(absl::StrCat(path_, ": at byte ", offset_ + ahead, ": ", what));
  }

  // The most that this file can hold.
  int64_t max_bytes() const { return gzdirect(file_) ? file_bytes_ : file_bytes_ * kMaxExpansion; }
  bool compressed() const { return !gzdirect(file_); }
  int64_t offset() const { return offset_; }

 private:
  const std::string path_;
  gzFile file_ = nullptr;
  int64_t file_bytes_ = 0;
  int64_t offset_ = 0;
};

struct Header {
  ElementType type;
  Shape shape;
  int64_t data_bytes = 0;
};

absl::StatusOr<Header> ReadHeader(Input& in) {
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

absl::Status Truncated(const Input& in, const Header& header, int64_t got) {
  return in.Damaged(0, absl::StrCat("the file ends after ", got, " of ", header.data_bytes, " bytes of data (shape ",
                                    ShapeString(header.shape), ")"));
}

// Reads to the end without keeping anything, to see that a large promise is true.
absl::Status VerifySize(Input& in, const Header& header) {
  std::vector<uint8_t> chunk(kChunk);
  const int64_t start = in.offset();
  for (int64_t got = 0; got < header.data_bytes;) {
    TD_ASSIGN_OR_RETURN(int64_t n, in.Read(chunk.data(), std::min(kChunk, header.data_bytes - got)));
    if (n == 0) return Truncated(in, header, got);
    got += n;
  }
  TD_RETURN_IF_ERROR(in.Rewind());
  return in.Read(chunk.data(), start).status();
}

// Big-endian file order to host order, for elements of the same size.
void SwapInPlace(int bytes, HostTensor& t) {
  uint8_t* p = t.data<uint8_t>();
  for (int64_t i = 0; i < t.num_elements(); ++i, p += bytes) std::reverse(p, p + bytes);
}

HostTensor WidenToInt32(const std::vector<uint8_t>& data, int bytes, const Shape& shape) {
  HostTensor t(DType::kInt32, shape);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    t.data<int32_t>()[i] =
        bytes == 1 ? static_cast<int8_t>(data[i]) : static_cast<int16_t>(data[2 * i] << 8 | data[2 * i + 1]);
  }
  return t;
}

}  // namespace

absl::StatusOr<HostTensor> ReadIdx(const std::string& path) {
  Input in(path);
  TD_RETURN_IF_ERROR(in.Open());
  TD_ASSIGN_OR_RETURN(Header header, ReadHeader(in));
  if (in.compressed() && header.data_bytes > kTrustedBytes) TD_RETURN_IF_ERROR(VerifySize(in, header));

  const bool widen = header.type.bytes != SizeOf(header.type.dtype);
  HostTensor tensor;
  std::vector<uint8_t> narrow;
  if (widen) {
    narrow.resize(header.data_bytes);
  } else {
    tensor = HostTensor(header.type.dtype, header.shape);
  }
  TD_ASSIGN_OR_RETURN(int64_t got, in.Read(widen ? narrow.data() : tensor.raw(), header.data_bytes));
  if (got < header.data_bytes) return Truncated(in, header, got);
  // The read past the end also makes zlib check its checksum.
  uint8_t extra;
  TD_ASSIGN_OR_RETURN(int64_t more, in.Read(&extra, 1));
  if (more != 0) {
    return in.Damaged(-1, absl::StrCat("there is more data than the ", header.data_bytes, " bytes of shape ",
                                       ShapeString(header.shape)));
  }
  if (widen) return WidenToInt32(narrow, header.type.bytes, header.shape);
  if (header.type.bytes > 1) SwapInPlace(header.type.bytes, tensor);
  return tensor;
}

}  // namespace tandem
