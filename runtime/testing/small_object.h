// A small ELF object, made by hand, for tests that break it.
#ifndef TANDEM_RUNTIME_TESTING_SMALL_OBJECT_H_
#define TANDEM_RUNTIME_TESTING_SMALL_OBJECT_H_

#include <elf.h>

#include <string>

namespace tandem {

// The sections and symbols of the object, in its order.
namespace small_object {
enum Section { kNull, kText, kRodata, kData, kBss, kRelaText, kRelaData, kSymtab, kStrtab, kSections };
enum Symbol { kNoSymbol, kFile, kRodataStart, kDataStart, kKernel, kSecond, kImport, kSymbols };
}  // namespace small_object

// Returns an object with a kernel "kernel", which stores 2.75 in args[0], and "second", which does nothing. Two
// relocations of .text are relative, the one of .data, which the kernel reads as well, is absolute. "expf" is a symbol
// of another object that nothing refers to.
std::string SmallObject();

// Parts of such an object, to be changed. References are valid as long as the object's size stays.
Elf64_Ehdr& HeaderOf(std::string& object);
Elf64_Shdr& SectionOf(std::string& object, small_object::Section section);
Elf64_Sym& SymbolOf(std::string& object, small_object::Symbol symbol);
Elf64_Rela& RelocationOf(std::string& object, small_object::Section table, int i);
// Returns where the name of a section or symbol is in the object.
char* NameOf(std::string& object, Elf64_Word name);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_TESTING_SMALL_OBJECT_H_
