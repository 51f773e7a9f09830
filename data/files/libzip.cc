#include "data/files/libzip.h"

#include <atomic>
#include <cerrno>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/out_of_memory.h"
#include "base/shared_library.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

absl::StatusOr<const LibZip*> Bind() {
  const LibrarySpec spec = {.title = "libzip", .names = {"libzip.so.4"}, .remedy = "install it (Debian's libzip4)"};
  TD_ASSIGN_OR_RETURN(const SharedLibrary library, SharedLibrary::Open(spec));
  auto zip = std::make_unique<LibZip>();
#define TANDEM_BIND(name) TD_RETURN_IF_ERROR(library.Bind(#name, zip->name));
  TANDEM_LIBZIP_FUNCTIONS(TANDEM_BIND)
#undef TANDEM_BIND
  return zip.release();
}

}  // namespace

absl::Status LibZip::Error(absl::string_view what, absl::StatusCode otherwise, zip_error_t* error) const {
  if (errno == ENOMEM || zip_error_code_zip(error) == ZIP_ER_MEMORY) {
    return OutOfMemoryError(absl::StrCat(what, ": out of memory"));
  }
  return absl::Status(otherwise, absl::StrCat(what, ": ", zip_error_strerror(error)));
}

absl::StatusOr<const LibZip*> OpenLibZip() {
  // Errors are not kept, because a lack of memory may be over at the next call. If two threads open the library at the
  // same time, one of their two equal tables of functions is never freed.
  static std::atomic<const LibZip*> opened = nullptr;
  if (const LibZip* zip = opened.load()) return zip;
  TD_ASSIGN_OR_RETURN(const LibZip* zip, Bind());
  opened.store(zip);
  return zip;
}

}  // namespace tandem
