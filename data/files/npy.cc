#include "data/files/npy.h"

#include <zip.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/element_count.h"
#include "base/posix_error.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "data/files/input_file.h"
#include "data/files/zip_error.h"

namespace tandem {
namespace {

constexpr absl::string_view kMagic("\x93NUMPY", 6);
constexpr int64_t kMaxHeaderBytes = 1 << 20;
constexpr int64_t kChunkBytes = 1 << 20;
constexpr zip_uint64_t kMaxArrays = 1 << 16;

// Where an array comes from.
struct Source {
  std::string name;  // for messages
  int64_t bytes;     // the most there are
  // Reads up to so many bytes; less only at the end.
  std::function<absl::StatusOr<int64_t>(void*, int64_t)> read;

  absl::Status Damaged(absl::string_view what) const { return absl::DataLossError(absl::StrCat(name, ": ", what)); }
};

struct Header {
  bool swap = false;  // the file has the other byte order
  char kind = 0;
  int64_t size = 0;  // of an element in the file
  bool fortran_order = false;
  Shape shape;
};

// The text behind "'key':" of the dictionary, without blanks; empty when it is not there.
absl::string_view Value(absl::string_view dictionary, absl::string_view key) {
  const size_t at = dictionary.find(absl::StrCat("'", key, "':"));
  if (at == absl::string_view::npos) return {};
  return absl::StripLeadingAsciiWhitespace(dictionary.substr(at + key.size() + 3));
}

// "(2, 3)", "(3,)" or "()".
bool ParseShape(absl::string_view text, Shape* shape) {
  const size_t end = text.find(')');
  if (!absl::ConsumePrefix(&text, "(") || end == absl::string_view::npos) return false;
  text = text.substr(0, end - 1);
  while (!(text = absl::StripAsciiWhitespace(text)).empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    int64_t size = 0;
    if (!absl::SimpleAtoi(text.substr(0, comma), &size) || size < 0) return false;
    shape->push_back(size);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return true;
}

absl::StatusOr<Header> ParseHeader(const Source& source, absl::string_view dictionary) {
  Header header;
  absl::string_view descr = Value(dictionary, "descr");
  if (absl::StartsWith(descr, "[")) {
    return absl::InvalidArgumentError(
        absl::StrCat(source.name, ": the array is of records of several fields; save each field as an array"));
  }
  const size_t quote = descr.empty() ? absl::string_view::npos : descr.find('\'', 1);
  if (quote == absl::string_view::npos || descr[0] != '\'' || quote < 3)
    return source.Damaged("the header has no type");
  descr = descr.substr(1, quote - 1);
  header.swap = descr[0] == '>';
  header.kind = descr[1];
  if (header.kind == 'O') {
    return absl::InvalidArgumentError(
        absl::StrCat(source.name, ": the array is of Python objects, which are never read: they can run any program"));
  }
  if (!absl::StrContains("<>|=", descr.substr(0, 1)) || !absl::SimpleAtoi(descr.substr(2), &header.size)) {
    return source.Damaged(absl::StrCat("the type '", PrintableLine(descr), "' is unknown"));
  }
  const std::string type = absl::StrCat(descr.substr(1, 1), header.size);
  if (!absl::StrContains(" f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 b1 ", absl::StrCat(" ", type, " "))) {
    return absl::InvalidArgumentError(
        absl::StrCat(source.name, ": the array's type '", PrintableLine(descr), "' cannot be read; convert it before"));
  }
  const absl::string_view order = Value(dictionary, "fortran_order");
  if (!absl::StartsWith(order, "True") && !absl::StartsWith(order, "False")) {
    return source.Damaged("the header does not say whether the order is Fortran's");
  }
  header.fortran_order = order[0] == 'T';
  if (!ParseShape(Value(dictionary, "shape"), &header.shape)) return source.Damaged("the header has no shape");
  return header;
}

DType ResultType(const Header& h) {
  switch (h.kind) {
    case 'f':
      return h.size == 8 ? DType::kFloat64 : DType::kFloat32;
    case 'b':
      return DType::kBool;
    case 'i':
      return h.size == 8 ? DType::kInt64 : DType::kInt32;
    default:
      return h.size == 1 ? DType::kUInt8 : h.size == 2 ? DType::kInt32 : DType::kInt64;
  }
}

template <typename From, typename To>
void Widen(const uint8_t* from, int64_t count, HostTensor* to) {
  To* out = reinterpret_cast<To*>(to->raw());
  for (int64_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from + i * sizeof(From), sizeof(From));
    out[i] = static_cast<To>(value);
  }
}

// The bytes of `count` elements of the file, in its order, as the result's type.
void Convert(const Header& h, std::string& bytes, int64_t count, HostTensor* out) {
  if (h.swap) {
    for (int64_t i = 0; i < count; ++i) std::reverse(&bytes[i * h.size], &bytes[i * h.size] + h.size);
  }
  const uint8_t* from = reinterpret_cast<const uint8_t*>(bytes.data());
  if (SizeOf(out->dtype()) == h.size) {
    if (count > 0) std::memcpy(out->raw(), from, count * h.size);
  } else if (h.kind == 'f') {
    Widen<_Float16, float>(from, count, out);
  } else if (h.kind == 'i') {
    h.size == 1 ? Widen<int8_t, int32_t>(from, count, out) : Widen<int16_t, int32_t>(from, count, out);
  } else {
    h.size == 2 ? Widen<uint16_t, int32_t>(from, count, out) : Widen<uint32_t, int64_t>(from, count, out);
  }
}

// From column-major to row-major order.
HostTensor Transposed(const HostTensor& columns, const Shape& shape) {
  HostTensor rows(columns.dtype(), shape);
  const int64_t size = SizeOf(rows.dtype());
  const uint8_t* from = static_cast<const uint8_t*>(columns.raw());
  uint8_t* to = static_cast<uint8_t*>(rows.raw());
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t i = 0; i < rows.num_elements(); ++i) {
    int64_t at = 0;
    for (size_t d = shape.size(); d-- > 0;) at = at * shape[d] + index[d];
    std::memcpy(to + i * size, from + at * size, size);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
  return rows;
}

absl::StatusOr<std::string> ReadBytes(const Source& source, int64_t bytes, absl::string_view what) {
  std::string out;
  // Memory grows with what is there.
  while (static_cast<int64_t>(out.size()) < bytes) {
    const size_t had = out.size();
    out.resize(had + std::min<int64_t>(bytes - had, std::max<int64_t>(kChunkBytes, had)));
    TD_ASSIGN_OR_RETURN(const int64_t got, source.read(out.data() + had, out.size() - had));
    if (got < static_cast<int64_t>(out.size() - had)) {
      return source.Damaged(
          absl::StrCat("the data ends within ", what, ": ", had + got, " of ", bytes, " bytes are there"));
    }
  }
  return out;
}

absl::StatusOr<HostTensor> ReadArray(const Source& source, const NpyOptions& options) {
  TD_ASSIGN_OR_RETURN(const std::string begin, ReadBytes(source, 8, "the header"));
  if (!absl::StartsWith(begin, kMagic)) return source.Damaged("it does not begin as NumPy's arrays do");
  const int version = static_cast<uint8_t>(begin[6]);
  if (version < 1 || version > 3 || begin[7] != 0) {
    return source.Damaged(absl::StrCat("the version ", version, " of the format is unknown"));
  }
  TD_ASSIGN_OR_RETURN(const std::string length, ReadBytes(source, version == 1 ? 2 : 4, "the header"));
  int64_t header_bytes = 0;
  for (size_t i = length.size(); i-- > 0;) header_bytes = header_bytes << 8 | static_cast<uint8_t>(length[i]);
  if (header_bytes > kMaxHeaderBytes) {
    return source.Damaged(absl::StrCat("the header is said to have ", header_bytes, " bytes"));
  }
  TD_ASSIGN_OR_RETURN(const std::string dictionary, ReadBytes(source, header_bytes, "the header"));
  TD_ASSIGN_OR_RETURN(const Header header, ParseHeader(source, dictionary));
  const int64_t elements = CheckedNumElements(header.shape);
  if (elements < 0 || elements > source.bytes / header.size) {
    return source.Damaged(
        absl::StrCat("the shape ", ShapeString(header.shape), " needs more bytes than there are (", source.bytes, ")"));
  }
  if (elements * 8 > options.max_bytes) {
    return source.Damaged(absl::StrCat("the shape ", ShapeString(header.shape), " is beyond the limit of ",
                                       options.max_bytes, " bytes; raise max_bytes if it is right"));
  }
  TD_ASSIGN_OR_RETURN(std::string bytes, ReadBytes(source, elements * header.size, "the array"));
  char more = 0;
  TD_ASSIGN_OR_RETURN(const int64_t behind, source.read(&more, 1));
  if (behind > 0) return source.Damaged("something follows the array");
  if (header.kind == 'b' && std::any_of(bytes.begin(), bytes.end(), [](char b) { return b != 0 && b != 1; })) {
    return source.Damaged("a bool is neither 0 nor 1");
  }
  HostTensor out(ResultType(header), header.fortran_order ? Shape{elements} : header.shape);
  TD_RETURN_IF_ERROR(out.status());
  Convert(header, bytes, elements, &out);
  return header.fortran_order ? Transposed(out, header.shape) : out;
}

struct CloseArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseEntry {
  void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};

absl::Status CheckOptions(const NpyOptions& options) {
  if (options.max_bytes >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("NpyOptions.max_bytes must be >= 0, got ", options.max_bytes));
}

}  // namespace

absl::StatusOr<HostTensor> ReadNpy(const std::string& path, const NpyOptions& options) {
  TD_RETURN_IF_ERROR(CheckOptions(options));
  InputFile file(path, Compression::kNone);
  TD_RETURN_IF_ERROR(file.Open());
  return ReadArray({path, file.max_remaining(), [&](void* to, int64_t bytes) { return file.Read(to, bytes); }},
                   options);
}

absl::StatusOr<std::vector<std::pair<std::string, HostTensor>>> ReadNpz(const std::string& path,
                                                                        const NpyOptions& options) {
  TD_RETURN_IF_ERROR(CheckOptions(options));
  TD_RETURN_IF_ERROR(InputFile(path, Compression::kNone).Open());  // its errors say more than libzip's
  int code = 0;
  errno = 0;
  const std::unique_ptr<zip_t, CloseArchive> archive(zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code));
  if (archive == nullptr) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const absl::Status status =
        ZipError(absl::StrCat(path, ": it is no .npz file or damaged"), absl::StatusCode::kDataLoss, &error);
    zip_error_fini(&error);
    return status;
  }
  std::vector<std::pair<std::string, HostTensor>> arrays;
  const zip_uint64_t entries = zip_get_num_entries(archive.get(), 0);
  if (entries > kMaxArrays) return absl::DataLossError(absl::StrCat(path, ": it has ", entries, " arrays"));
  for (zip_uint64_t i = 0; i < entries; ++i) {
    zip_stat_t info;
    zip_stat_init(&info);
    const zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
    const std::unique_ptr<zip_file_t, CloseEntry> entry(zip_fopen_index(archive.get(), i, 0));
    if (entry == nullptr || zip_stat_index(archive.get(), i, 0, &info) != 0 || (info.valid & needed) != needed) {
      return ZipError(absl::StrCat(path, ": entry ", i), absl::StatusCode::kDataLoss, zip_get_error(archive.get()));
    }
    const std::string entry_name = absl::StrCat(path, ", ", PrintableLine(info.name));
    absl::string_view name = info.name;
    if (!absl::ConsumeSuffix(&name, ".npy")) {
      return absl::InvalidArgumentError(absl::StrCat(entry_name, ": the entry is no array (.npy)"));
    }
    const auto read = [&](void* to, int64_t bytes) -> absl::StatusOr<int64_t> {
      int64_t done = 0;
      while (done < bytes) {
        const zip_int64_t n = zip_fread(entry.get(), static_cast<char*>(to) + done, bytes - done);
        if (n < 0) {
          return ZipError(absl::StrCat(entry_name, ": at its byte ", done), absl::StatusCode::kDataLoss,
                          zip_file_get_error(entry.get()));
        }
        if (n == 0) break;
        done += n;
      }
      return done;
    };
    // What the archive says may be wrong too: its compressed size is within the file.
    const int64_t most = MaxInflatedBytes(static_cast<int64_t>(std::min<zip_uint64_t>(info.comp_size, INT64_MAX)));
    TD_ASSIGN_OR_RETURN(
        HostTensor array,
        ReadArray({entry_name, std::min<int64_t>(most, static_cast<int64_t>(info.size)), read}, options));
    arrays.emplace_back(std::string(name), std::move(array));
  }
  return arrays;
}

}  // namespace tandem
