#include "base/release_memory.h"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "base/own_object.h"

namespace tandem {
namespace {

struct Request {
  absl::Span<const absl::string_view> names;
  int64_t bytes = 0;
};

int ReleaseLibrary(dl_phdr_info* info, size_t, void* data) {
  Request& request = *static_cast<Request*>(data);
  absl::string_view file = info->dlpi_name;
  file.remove_prefix(file.rfind('/') == absl::string_view::npos ? 0 : file.rfind('/') + 1);
  bool wanted = false;
  for (absl::string_view name : request.names) {
    wanted |= name == kOwnObject ? IsOwnObject(*info) : absl::StartsWith(file, name);
  }
  // Skips libraries whose code the dynamic linker has patched: their pages are private copies that differ from the
  // file.
  for (int i = 0; wanted && i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    for (auto* d = reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr); d->d_tag; ++d) {
      wanted &= d->d_tag != DT_TEXTREL && !(d->d_tag == DT_FLAGS && (d->d_un.d_val & DF_TEXTREL));
    }
  }
  if (!wanted) return 0;
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    // Skips the data segment too: relocated constants in it look read-only in memory, but differ from the file.
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W)) continue;
    // Unmaps only the pages that are entirely inside the segment.
    const uintptr_t begin = (info->dlpi_addr + segment.p_vaddr + page - 1) / page * page;
    const uintptr_t end = (info->dlpi_addr + segment.p_vaddr + segment.p_filesz) / page * page;
    if (begin >= end) continue;
    if (madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED) == 0) {
      request.bytes += static_cast<int64_t>(end - begin);
    }
  }
  return 0;
}

}  // namespace

int64_t ReleaseLibraryPages(absl::Span<const absl::string_view> names) {
  Request request{names};
  dl_iterate_phdr(ReleaseLibrary, &request);
  return request.bytes;
}

void ReleaseFreedMemory() { malloc_trim(0); }

}  // namespace tandem
