#include "base/own_object.h"

#include <cstdint>

namespace tandem {

bool IsOwnObject(const dl_phdr_info& object) {
  const auto code = reinterpret_cast<uintptr_t>(&IsOwnObject);
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object.dlpi_phdr[i];
    const uintptr_t begin = object.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && begin <= code && code < begin + segment.p_memsz) return true;
  }
  return false;
}

}  // namespace tandem
