#include "passes/base/build_id.h"

#include <elf.h>
#include <link.h>

#include <cstdint>

#include "absl/strings/escaping.h"
#include "base/own_object.h"

namespace tandem {
namespace {

// Callback of dl_iterate_phdr; the nonzero result ends the iteration at the object that holds this code.
int FindBuildId(dl_phdr_info* info, size_t, void* out) {
  if (!IsOwnObject(*info)) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    uintptr_t at = info->dlpi_addr + header.p_vaddr, end = at + header.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
      uintptr_t name = at + sizeof(*note), desc = name + (note->n_namesz + 3) / 4 * 4;
      if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4) {
        *static_cast<std::string*>(out) = absl::BytesToHexString({reinterpret_cast<const char*>(desc), note->n_descsz});
        return 1;
      }
      at = desc + (note->n_descsz + 3) / 4 * 4;
    }
  }
  return 1;
}

}  // namespace

std::string BuildId() {
  std::string id;
  dl_iterate_phdr(FindBuildId, &id);
  return id.empty() ? "unknown" : id;
}

}  // namespace tandem
