#include "base/tile_registers.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace tandem {

bool RequestTileRegisters() {
#if defined(__x86_64__) && defined(SYS_arch_prctl)
  // The values of ARCH_REQ_XCOMP_PERM and XFEATURE_XTILEDATA (Linux, Documentation/arch/x86/xstate.rst).
  constexpr int kRequestPermission = 0x1023, kTileData = 18;
  static const bool granted = syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  return granted;
#else
  return false;
#endif
}

}  // namespace tandem
