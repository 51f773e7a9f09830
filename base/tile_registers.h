// Leave to use the tile registers of a CPU's matrix unit (AMX).
#ifndef TANDEM_BASE_TILE_REGISTERS_H_
#define TANDEM_BASE_TILE_REGISTERS_H_

namespace tandem {

// Asks the operating system, once, to keep tile registers for the threads of this process; without that their first
// use is an illegal instruction. False where the CPU or the system has none.
bool RequestTileRegisters();

}  // namespace tandem

#endif  // TANDEM_BASE_TILE_REGISTERS_H_
