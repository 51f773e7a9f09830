// Reads ELF objects with the machine code of kernels: relocatable objects for x86-64, as compilers write them.
//
// An object comes from a file that may be cut or forged. Every offset, size, alignment and index in it is checked, and
// a section, symbol or relocation of a kind that kernels do not have is refused by name.
#ifndef TANDEM_RUNTIME_CPU_KERNELS_ELF_OBJECT_H_
#define TANDEM_RUNTIME_CPU_KERNELS_ELF_OBJECT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem {

// The memory that a section needs: machine code, constants, or data that code writes.
enum class MemoryKind { kCode, kConstants, kData };
inline constexpr int kMemoryKinds = 3;

inline constexpr uint64_t kMaxSectionAlignment = 4096;

// A section that is to be loaded.
struct ElfSection {
  size_t number = 0;  // in the object's table of sections
  absl::string_view name;
  MemoryKind kind = MemoryKind::kCode;
  absl::string_view bytes;  // what is in front; the rest of its `size` bytes is zero
  uint64_t size = 0;
  uint64_t alignment = 1;  // a power of two, at most kMaxSectionAlignment

  // Returns "section 2 (.text)", for messages.
  std::string Text() const;
};

// A byte of a section, or the end of one.
struct ElfPlace {
  size_t section = 0;  // index into ElfObject::sections
  uint64_t offset = 0;
};

enum class RelocationKind {
  kRelative32,  // 4 bytes that get the distance from themselves to the target
  kAbsolute64,  // 8 bytes that get the target's address
};

// A field in a section's bytes that depends on where things are loaded.
struct ElfRelocation {
  RelocationKind kind = RelocationKind::kRelative32;
  ElfPlace field;
  ElfPlace target;           // where `import` is empty
  absl::string_view import;  // the name of a function outside of the object
  int64_t addend = 0;        // is added to the target's address
};

// Names and bytes are parts of the object's bytes.
struct ElfObject {
  std::vector<ElfSection> sections;
  std::vector<ElfRelocation> relocations;
  std::map<absl::string_view, ElfPlace> functions;  // those that others may call, by name
};

// Tables of unwinding are left out, because nothing throws through a kernel, and so are constructors, which only the
// thread sanitizer makes, for a runtime that the process has set up.
// Errors: DataLoss, with the section, the offset and the value, for an object that is damaged or is no kernel's.
absl::StatusOr<ElfObject> ParseElfObject(absl::string_view bytes);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_KERNELS_ELF_OBJECT_H_
