#include "data/files/zip_writer.h"

#include <cerrno>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "data/files/libzip.h"

namespace tandem {
namespace {

struct Discard {
  const LibZip* zip;
  void operator()(zip_t* archive) const { zip->zip_discard(archive); }
};
struct Free {
  const LibZip* zip;
  void operator()(zip_source_t* source) const { zip->zip_source_free(source); }
};

constexpr size_t kMaxName = 65535;  // the format stores a name's length in 16 bits

absl::Status BadName(const std::string& name, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(
      what, " cannot have an entry called \"", PrintableLine(name.substr(0, 100)), "\", which has ", name.size(),
      " bytes; names are UTF-8 without NUL, of at most ", kMaxName, ", and each is there once"));
}

}  // namespace

absl::StatusOr<std::string> SerializeZip(const std::vector<ZipContent>& entries, absl::string_view what) {
  TD_ASSIGN_OR_RETURN(const LibZip* zip, OpenLibZip());
  const auto failed = [&](zip_error_t* error) {
    return zip->Error(absl::StrCat(what, " cannot be made"), absl::StatusCode::kInternal, error);
  };
  zip_error_t error;
  zip->zip_error_init(&error);
  errno = 0;
  const std::unique_ptr<zip_source_t, Free> bytes(zip->zip_source_buffer_create(nullptr, 0, 0, &error), Free{zip});
  if (bytes == nullptr) return failed(&error);
  std::unique_ptr<zip_t, Discard> archive(zip->zip_open_from_source(bytes.get(), ZIP_TRUNCATE, &error), Discard{zip});
  if (archive == nullptr) return failed(&error);
  zip->zip_source_keep(bytes.get());  // adds a reference, which the archive will release
  for (const ZipContent& entry : entries) {
    if (entry.name.size() > kMaxName || absl::StrContains(entry.name, '\0')) return BadName(entry.name, what);
    // The bytes are not copied: the archive reads them from the caller's memory.
    std::vector<zip_buffer_fragment_t> pieces;
    for (const absl::string_view piece : entry.pieces) {
      if (piece.empty()) continue;
      pieces.push_back({reinterpret_cast<zip_uint8_t*>(const_cast<char*>(piece.data())), piece.size()});
    }
    std::unique_ptr<zip_source_t, Free> source(
        zip->zip_source_buffer_fragment_create(pieces.data(), pieces.size(), 0, &error), Free{zip});
    if (source == nullptr) return failed(&error);
    const zip_int64_t index = zip->zip_file_add(archive.get(), entry.name.c_str(), source.get(), ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      zip_error_t* why = zip->zip_get_error(archive.get());
      const int code = zip->zip_error_code_zip(why);
      return code == ZIP_ER_INVAL || code == ZIP_ER_EXISTS ? BadName(entry.name, what) : failed(why);
    }
    source.release();                                 // owned by the archive now
    constexpr zip_uint16_t kMidnight = 0, kDay = 33;  // 1 January 1980, as numpy.savez and Keras write
    if (zip->zip_set_file_compression(archive.get(), index, ZIP_CM_STORE, 0) != 0 ||
        zip->zip_file_set_dostime(archive.get(), index, kMidnight, kDay, 0) != 0) {
      return failed(zip->zip_get_error(archive.get()));
    }
  }
  if (zip->zip_close(archive.get()) != 0) return failed(zip->zip_get_error(archive.get()));
  archive.release();  // zip_close has freed it
  zip_stat_t info;
  zip->zip_stat_init(&info);
  if (zip->zip_source_stat(bytes.get(), &info) != 0 || zip->zip_source_open(bytes.get()) != 0) {
    return failed(zip->zip_source_error(bytes.get()));
  }
  std::string result(info.size, '\0');
  zip_int64_t got = 0;
  for (size_t at = 0; at < result.size(); at += got) {
    got = zip->zip_source_read(bytes.get(), result.data() + at, result.size() - at);
    if (got <= 0) return failed(zip->zip_source_error(bytes.get()));
  }
  zip->zip_source_close(bytes.get());
  return result;
}

}  // namespace tandem
