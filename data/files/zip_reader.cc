#include "data/files/zip_reader.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "data/files/input_file.h"
#include "data/files/libzip.h"

namespace tandem {
namespace {

constexpr zip_int64_t kMaxEntries = 1 << 16;
constexpr int64_t kReadBytes = 1 << 20;

}  // namespace

ZipEntry::ZipEntry(const LibZip* zip, struct zip_file* file, std::string name, std::string where, int64_t max_bytes,
                   int64_t said)
    : zip_(zip), file_(file), name_(std::move(name)), where_(std::move(where)), max_bytes_(max_bytes), said_(said) {}

ZipEntry::~ZipEntry() {
  if (file_ != nullptr) zip_->zip_fclose(file_);
}

ZipEntry::ZipEntry(ZipEntry&& other)
    : zip_(other.zip_),
      file_(std::exchange(other.file_, nullptr)),
      name_(std::move(other.name_)),
      where_(std::move(other.where_)),
      max_bytes_(other.max_bytes_),
      said_(other.said_) {}

absl::StatusOr<int64_t> ZipEntry::Read(void* to, int64_t bytes) {
  int64_t done = 0;
  errno = 0;
  while (done < bytes) {
    const zip_int64_t n = zip_->zip_fread(file_, static_cast<char*>(to) + done, bytes - done);
    if (n < 0) {
      return zip_->Error(absl::StrCat(where_, ": at its byte ", done), absl::StatusCode::kDataLoss,
                         zip_->zip_file_get_error(file_));
    }
    if (n == 0) break;
    done += n;
  }
  return done;
}

absl::StatusOr<std::string> ZipEntry::ReadAll(int64_t max_bytes) {
  if (said_ > max_bytes) {
    return absl::InvalidArgumentError(absl::StrCat(where_, ": the archive says that it has ", said_,
                                                   " bytes, and at most ", max_bytes, " are read into memory"));
  }
  if (said_ > max_bytes_) {
    return absl::DataLossError(absl::StrCat(where_, ": the archive says that it has ", said_,
                                            " bytes, and holds at most ", max_bytes_, " of them: it is damaged"));
  }
  std::string out;
  // The memory is allocated in steps, so that a wrong size allocates little more than the bytes that exist. One byte
  // more than the size is requested, because libzip compares the checksum only when it reaches the end.
  while (true) {
    const size_t had = out.size();
    out.resize(had + std::min<int64_t>(said_ + 1 - had, std::max<int64_t>(kReadBytes, had)));
    TD_ASSIGN_OR_RETURN(const int64_t got, Read(out.data() + had, out.size() - had));
    if (had + got < out.size()) {
      out.resize(had + got);
      break;
    }
    if (static_cast<int64_t>(out.size()) > said_) break;
  }
  if (static_cast<int64_t>(out.size()) != said_) {
    return absl::DataLossError(absl::StrCat(where_, ": the archive says that it has ", said_,
                                            " bytes, and it has another number of them: it is damaged"));
  }
  return out;
}

absl::StatusOr<ZipReader> ZipReader::Open(const std::string& path, absl::string_view what) {
  // opened here first because these error messages say more than libzip's
  TD_RETURN_IF_ERROR(InputFile(path, Compression::kNone).Open());
  TD_ASSIGN_OR_RETURN(const LibZip* library, OpenLibZip());
  int code = 0;
  errno = 0;
  struct zip* archive = library->zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code);
  if (archive == nullptr) {
    zip_error_t error;
    library->zip_error_init_with_code(&error, code);
    const absl::Status status =
        library->Error(absl::StrCat(path, ": it is not ", what, " or damaged"), absl::StatusCode::kDataLoss, &error);
    library->zip_error_fini(&error);
    return status;
  }
  ZipReader reader(library, path, archive, library->zip_get_num_entries(archive, 0));
  if (reader.num_entries() > kMaxEntries) {
    return absl::DataLossError(
        absl::StrCat(path, ": it has ", reader.num_entries(), " entries; ", what, " has at most ", kMaxEntries));
  }
  return reader;
}

ZipReader::~ZipReader() {
  if (archive_ != nullptr) zip_->zip_discard(archive_);
}

ZipReader::ZipReader(ZipReader&& other)
    : zip_(other.zip_),
      path_(std::move(other.path_)),
      archive_(std::exchange(other.archive_, nullptr)),
      num_entries_(other.num_entries_) {}

absl::StatusOr<ZipEntry> ZipReader::OpenEntry(int64_t i) const {
  zip_stat_t info;
  zip_->zip_stat_init(&info);
  constexpr zip_uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
  errno = 0;
  struct zip_file* file = zip_->zip_fopen_index(archive_, i, 0);
  if (file == nullptr || zip_->zip_stat_index(archive_, i, 0, &info) != 0 || (info.valid & kNeeded) != kNeeded) {
    const absl::Status status =
        zip_->Error(absl::StrCat(path_, ": entry ", i), absl::StatusCode::kDataLoss, zip_->zip_get_error(archive_));
    if (file != nullptr) zip_->zip_fclose(file);
    return status;
  }
  const auto bounded = [](zip_uint64_t bytes) {
    return static_cast<int64_t>(std::min<zip_uint64_t>(bytes, INT64_MAX));
  };
  // The archive may claim a wrong uncompressed size. The compressed size is known to be within the file, and bounds the
  // uncompressed size too.
  const int64_t most = std::min(MaxInflatedBytes(bounded(info.comp_size)), bounded(info.size));
  return ZipEntry(zip_, file, info.name, absl::StrCat(path_, ", ", PrintableLine(info.name)), most, bounded(info.size));
}

int64_t ZipReader::Find(const std::string& name) const { return zip_->zip_name_locate(archive_, name.c_str(), 0); }

absl::StatusOr<std::map<std::string, std::string>> ReadZipEntries(const std::string& path, absl::string_view what,
                                                                  const std::vector<std::string>& names,
                                                                  int64_t max_bytes) {
  TD_ASSIGN_OR_RETURN(const ZipReader archive, ZipReader::Open(path, what));
  std::map<std::string, std::string> entries;
  for (const std::string& name : names) {
    const int64_t found = archive.Find(name);
    if (found < 0) {
      return absl::DataLossError(absl::StrCat(path, ": it has no entry called \"", PrintableLine(name), "\"; ", what,
                                              " has ", absl::StrJoin(names, ", ")));
    }
    TD_ASSIGN_OR_RETURN(ZipEntry entry, archive.OpenEntry(found));
    TD_ASSIGN_OR_RETURN(entries[name], entry.ReadAll(max_bytes));
  }
  return entries;
}

}  // namespace tandem
