// Permission to use the tile registers of a CPU's matrix unit (AMX).
#ifndef TANDEM_BASE_TILE_REGISTERS_H_
#define TANDEM_BASE_TILE_REGISTERS_H_

namespace tandem {

// Asks the operating system, once, to let the threads of this process use tile registers; without that, their first use
// is an illegal instruction. False if the CPU or the system does not have them.
bool RequestTileRegisters();

}  // namespace tandem

#endif  // TANDEM_BASE_TILE_REGISTERS_H_
