#include "data/files/npy.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/element_count.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "data/files/input_file.h"
#include "data/files/number_type.h"
#include "data/files/zip_reader.h"

namespace tandem {
namespace {

constexpr absl::string_view kMagic("\x93NUMPY", 6);
constexpr int64_t kMaxHeaderBytes = 1 << 20;
constexpr int64_t kChunkBytes = 1 << 20;

// The source of an array's bytes.
struct Source {
  std::string name;  // path, and for an archive the array, for messages
  int64_t bytes;     // an upper bound on the number of bytes
  // Reads up to the given number of bytes; less only at the end.
  std::function<absl::StatusOr<int64_t>(void*, int64_t)> read;

  absl::Status Damaged(absl::string_view what) const { return absl::DataLossError(absl::StrCat(name, ": ", what)); }
};

struct Header {
  NumberType type;
  bool fortran_order = false;
  Shape shape;
};

// Returns the text after "'key':" in the dictionary, without blanks; empty if the key is missing.
absl::string_view Value(absl::string_view dictionary, absl::string_view key) {
  const size_t at = dictionary.find(absl::StrCat("'", key, "':"));
  if (at == absl::string_view::npos) return {};
  return absl::StripLeadingAsciiWhitespace(dictionary.substr(at + key.size() + 3));
}

// Parses a shape: "(2, 3)", "(3,)" or "()".
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
  header.type.big_endian = descr[0] == '>';
  const char kind = descr[1];
  if (kind == 'O') {
    return absl::InvalidArgumentError(
        absl::StrCat(source.name, ": the array is of Python objects, which are never read: they can run any program"));
  }
  if (!absl::StrContains("<>|=", descr.substr(0, 1)) || !absl::SimpleAtoi(descr.substr(2), &header.type.size)) {
    return source.Damaged(absl::StrCat("the type '", PrintableLine(descr), "' is unknown"));
  }
  const std::string type = absl::StrCat(descr.substr(1, 1), header.type.size);
  if (!absl::StrContains(" f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 b1 ", absl::StrCat(" ", type, " "))) {
    return absl::InvalidArgumentError(
        absl::StrCat(source.name, ": the array's type '", PrintableLine(descr), "' cannot be read; convert it before"));
  }
  header.type.kind = kind == 'f'   ? NumberType::Kind::kFloat
                     : kind == 'i' ? NumberType::Kind::kSigned
                     : kind == 'u' ? NumberType::Kind::kUnsigned
                                   : NumberType::Kind::kBool;
  const absl::string_view order = Value(dictionary, "fortran_order");
  if (!absl::StartsWith(order, "True") && !absl::StartsWith(order, "False")) {
    return source.Damaged("the header does not say whether the order is Fortran's");
  }
  header.fortran_order = order[0] == 'T';
  if (!ParseShape(Value(dictionary, "shape"), &header.shape)) return source.Damaged("the header has no shape");
  return header;
}

// Converts from column-major to row-major order.
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
  // The memory is allocated in steps, so that a wrong size in the header cannot allocate more than about twice the
  // bytes that exist.
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
  if (elements < 0 || elements > source.bytes / header.type.size) {
    return source.Damaged(
        absl::StrCat("the shape ", ShapeString(header.shape), " needs more bytes than there are (", source.bytes, ")"));
  }
  if (elements * 8 > options.max_bytes) {
    return source.Damaged(absl::StrCat("the shape ", ShapeString(header.shape), " is beyond the limit of ",
                                       options.max_bytes, " bytes; raise max_bytes if it is right"));
  }
  TD_ASSIGN_OR_RETURN(std::string bytes, ReadBytes(source, elements * header.type.size, "the array"));
  char more = 0;
  TD_ASSIGN_OR_RETURN(const int64_t behind, source.read(&more, 1));
  if (behind > 0) return source.Damaged("something follows the array");
  if (header.type.kind == NumberType::Kind::kBool &&
      std::any_of(bytes.begin(), bytes.end(), [](char b) { return b != 0 && b != 1; })) {
    return source.Damaged("a bool is neither 0 nor 1");
  }
  HostTensor out(TensorType(header.type), header.fortran_order ? Shape{elements} : header.shape);
  TD_RETURN_IF_ERROR(out.status());
  ConvertNumbers(header.type, bytes.data(), elements, out.raw());
  return header.fortran_order ? Transposed(out, header.shape) : out;
}

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
  TD_ASSIGN_OR_RETURN(const ZipReader archive, ZipReader::Open(path, "an .npz file"));
  std::vector<std::pair<std::string, HostTensor>> arrays;
  for (int64_t i = 0; i < archive.num_entries(); ++i) {
    TD_ASSIGN_OR_RETURN(ZipEntry entry, archive.OpenEntry(i));
    absl::string_view name = entry.name();
    if (!absl::ConsumeSuffix(&name, ".npy")) {
      return absl::InvalidArgumentError(absl::StrCat(entry.where(), ": the entry is no array (.npy)"));
    }
    const auto read = [&](void* to, int64_t bytes) { return entry.Read(to, bytes); };
    TD_ASSIGN_OR_RETURN(HostTensor array, ReadArray({entry.where(), entry.max_bytes(), read}, options));
    arrays.emplace_back(std::string(name), std::move(array));
  }
  return arrays;
}

}  // namespace tandem
