#include "data/files/write_npz.h"

#include <zip.h>

#include <cerrno>
#include <deque>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/printable.h"
#include "data/files/zip_error.h"

namespace tandem {
namespace {

// As numpy names it; empty for a type that it does not have.
absl::string_view Descr(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "<f4";
    case DType::kFloat64:
      return "<f8";
    case DType::kInt32:
      return "<i4";
    case DType::kInt64:
      return "<i8";
    case DType::kUInt8:
      return "|u1";
    case DType::kBool:
      return "|b1";
    case DType::kBFloat16:
    case DType::kString:
    case DType::kInvalid:
      break;
  }
  return "";
}

// All of a .npy file but the elements.
std::string NpyHeader(const HostTensor& array) {
  const std::string shape = absl::StrCat("(", absl::StrJoin(array.shape(), ", "), array.rank() == 1 ? "," : "", ")");
  std::string dictionary =
      absl::StrCat("{'descr': '", Descr(array.dtype()), "', 'fortran_order': False, 'shape': ", shape, ", }");
  constexpr size_t kBefore = 10, kAlignment = 64;  // magic, version and length; where the elements begin
  dictionary.append(kAlignment - 1 - (kBefore + dictionary.size()) % kAlignment, ' ');
  dictionary += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header.push_back(static_cast<char>(dictionary.size() & 0xff));
  header.push_back(static_cast<char>(dictionary.size() >> 8));
  return header + dictionary;
}

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct Free {
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};

// Of an entry, in bytes: its length has 16 bits, and ".npy" comes behind it.
constexpr size_t kMaxName = 65535 - 4;

absl::Status BadName(const std::string& name) {
  return absl::InvalidArgumentError(absl::StrCat("an .npz file cannot have an array called \"",
                                                 PrintableLine(name.substr(0, 100)), "\", which has ", name.size(),
                                                 " bytes; names are UTF-8 without NUL, of at most ", kMaxName));
}

absl::Status Failed(zip_error_t* error) {
  return ZipError("an .npz archive cannot be made", absl::StatusCode::kInternal, error);
}

}  // namespace

absl::StatusOr<std::string> SerializeNpz(const std::map<std::string, HostTensor>& arrays) {
  if (arrays.empty()) return absl::InvalidArgumentError("an .npz file needs an array, and there is none");
  for (const auto& [name, array] : arrays) {
    if (name.size() > kMaxName || absl::StrContains(name, '\0')) return BadName(name);
    if (!Descr(array.dtype()).empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("array \"", PrintableLine(name), "\" is ", Name(array.dtype()), ", which no .npz file holds"));
  }
  zip_error_t error;
  zip_error_init(&error);
  errno = 0;
  const std::unique_ptr<zip_source_t, Free> bytes(zip_source_buffer_create(nullptr, 0, 0, &error));
  if (bytes == nullptr) return Failed(&error);
  std::unique_ptr<zip_t, Discard> archive(zip_open_from_source(bytes.get(), ZIP_TRUNCATE, &error));
  if (archive == nullptr) return Failed(&error);
  zip_source_keep(bytes.get());  // the archive has the other reference
  std::deque<std::string> headers;
  for (const auto& [name, array] : arrays) {
    headers.push_back(NpyHeader(array));
    // The archive reads the elements where they are.
    zip_buffer_fragment_t pieces[] = {
        {reinterpret_cast<zip_uint8_t*>(headers.back().data()), headers.back().size()},
        {static_cast<zip_uint8_t*>(const_cast<void*>(array.raw())), static_cast<zip_uint64_t>(array.byte_size())}};
    std::unique_ptr<zip_source_t, Free> source(
        zip_source_buffer_fragment_create(pieces, array.byte_size() > 0 ? 2 : 1, 0, &error));
    if (source == nullptr) return Failed(&error);
    const zip_int64_t index =
        zip_file_add(archive.get(), absl::StrCat(name, ".npy").c_str(), source.get(), ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      zip_error_t* why = zip_get_error(archive.get());
      return zip_error_code_zip(why) == ZIP_ER_INVAL ? BadName(name) : Failed(why);
    }
    source.release();                                 // the archive's now
    constexpr zip_uint16_t kMidnight = 0, kDay = 33;  // 1 January 1980, as numpy.savez says
    if (zip_set_file_compression(archive.get(), index, ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(archive.get(), index, kMidnight, kDay, 0) != 0) {
      return Failed(zip_get_error(archive.get()));
    }
  }
  if (zip_close(archive.get()) != 0) return Failed(zip_get_error(archive.get()));
  archive.release();  // closed
  zip_stat_t info;
  zip_stat_init(&info);
  if (zip_source_stat(bytes.get(), &info) != 0 || zip_source_open(bytes.get()) != 0) {
    return Failed(zip_source_error(bytes.get()));
  }
  std::string result(info.size, '\0');
  zip_int64_t got = 0;
  for (size_t at = 0; at < result.size(); at += got) {
    got = zip_source_read(bytes.get(), result.data() + at, result.size() - at);
    if (got <= 0) return Failed(zip_source_error(bytes.get()));
  }
  zip_source_close(bytes.get());
  return result;
}

}  // namespace tandem
