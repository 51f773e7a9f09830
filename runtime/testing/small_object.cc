#include "runtime/testing/small_object.h"

#include <cstdint>
#include <cstring>

namespace tandem {
namespace {

const char kCode[] =
    "\x48\x8b\x07"                      // mov (%rdi), %rax
    "\x48\x8b\x0d\x00\x00\x00\x00"      // mov .data(%rip), %rcx
    "\xf3\x0f\x10\x01"                  // movss (%rcx), %xmm0
    "\xf3\x0f\x58\x05\x00\x00\x00\x00"  // addss .rodata+4(%rip), %xmm0
    "\xf3\x0f\x11\x00"                  // movss %xmm0, (%rax)
    "\xc3"                              // ret
    "\xc3";                             // ret, of the second function
constexpr int kDataField = 6, kRodataField = 18, kSecondStart = 27, kCodeBytes = 28;

template <typename T>
std::string BytesOf(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

// Appends a text to a string table, and returns where it begins.
Elf64_Word AddName(std::string& names, const char* name) {
  const size_t at = names.size();
  names.append(name).push_back('\0');
  return static_cast<Elf64_Word>(at);
}

template <typename T>
T& At(std::string& object, uint64_t offset) {
  return *reinterpret_cast<T*>(object.data() + offset);
}

std::string Symbols(std::string& names) {
  using namespace small_object;
  const Elf64_Sym symbols[kSymbols] = {
      {},
      {AddName(names, "kernel.cc"), ELF64_ST_INFO(STB_LOCAL, STT_FILE), 0, SHN_ABS, 0, 0},
      {0, ELF64_ST_INFO(STB_LOCAL, STT_SECTION), 0, kRodata, 0, 0},
      {0, ELF64_ST_INFO(STB_LOCAL, STT_SECTION), 0, kData, 0, 0},
      {AddName(names, "kernel"), ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, kText, 0, kSecondStart},
      {AddName(names, "second"), ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, kText, kSecondStart, 1},
      {AddName(names, "expf"), ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), 0, SHN_UNDEF, 0, 0},
  };
  return BytesOf(symbols);
}

}  // namespace

std::string SmallObject() {
  using namespace small_object;
  const float constants[] = {2.5f, 0.25f};
  const Elf64_Rela of_text[] = {{kDataField, ELF64_R_INFO(uint64_t{kDataStart}, R_X86_64_PC32), -4},
                                {kRodataField, ELF64_R_INFO(uint64_t{kRodataStart}, R_X86_64_PC32), 4 - 4}};
  const Elf64_Rela of_data[] = {{0, ELF64_R_INFO(uint64_t{kRodataStart}, R_X86_64_64), 0}};
  std::string names(1, '\0');
  const std::string symbols = Symbols(names);
  const struct {
    const char* name;
    Elf64_Word type;
    Elf64_Xword flags;
    Elf64_Word link, info;
    Elf64_Xword alignment, entry;
    std::string bytes;
  } parts[kSections] = {
      {"", SHT_NULL, 0, 0, 0, 0, 0, ""},
      {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0, 0, 16, 0, std::string(kCode, kCodeBytes)},
      {".rodata", SHT_PROGBITS, SHF_ALLOC, 0, 0, 4, 0, BytesOf(constants)},
      {".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0, 0, 8, 0, std::string(8, '\0')},
      {".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, 0, 0, 8, 0, ""},
      {".rela.text", SHT_RELA, SHF_INFO_LINK, kSymtab, kText, 8, sizeof(Elf64_Rela), BytesOf(of_text)},
      {".rela.data", SHT_RELA, SHF_INFO_LINK, kSymtab, kData, 8, sizeof(Elf64_Rela), BytesOf(of_data)},
      {".symtab", SHT_SYMTAB, 0, kStrtab, kKernel, 8, sizeof(Elf64_Sym), symbols},
      {".strtab", SHT_STRTAB, 0, 0, 0, 1, 0, ""},
  };
  Elf64_Shdr headers[kSections] = {};
  for (int i = 0; i < kSections; ++i) headers[i].sh_name = AddName(names, parts[i].name);
  std::string object(sizeof(Elf64_Ehdr), '\0');
  for (int i = 1; i < kSections; ++i) {
    object.resize((object.size() + 15) / 16 * 16);
    const std::string& bytes = i == kStrtab ? names : parts[i].bytes;
    headers[i].sh_type = parts[i].type;
    headers[i].sh_flags = parts[i].flags;
    headers[i].sh_offset = object.size();
    headers[i].sh_size = i == kBss ? 16 : bytes.size();
    headers[i].sh_link = parts[i].link;
    headers[i].sh_info = parts[i].info;
    headers[i].sh_addralign = parts[i].alignment;
    headers[i].sh_entsize = parts[i].entry;
    object += bytes;
  }
  object.resize((object.size() + 15) / 16 * 16);
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_REL;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_shoff = object.size();
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = kSections;
  header.e_shstrndx = kStrtab;
  std::memcpy(object.data(), &header, sizeof header);
  return object + BytesOf(headers);
}

Elf64_Ehdr& HeaderOf(std::string& object) { return At<Elf64_Ehdr>(object, 0); }

Elf64_Shdr& SectionOf(std::string& object, small_object::Section section) {
  return At<Elf64_Shdr>(object, HeaderOf(object).e_shoff + section * sizeof(Elf64_Shdr));
}

Elf64_Sym& SymbolOf(std::string& object, small_object::Symbol symbol) {
  return At<Elf64_Sym>(object, SectionOf(object, small_object::kSymtab).sh_offset + symbol * sizeof(Elf64_Sym));
}

Elf64_Rela& RelocationOf(std::string& object, small_object::Section table, int i) {
  return At<Elf64_Rela>(object, SectionOf(object, table).sh_offset + i * sizeof(Elf64_Rela));
}

char* NameOf(std::string& object, Elf64_Word name) {
  return object.data() + SectionOf(object, small_object::kStrtab).sh_offset + name;
}

}  // namespace tandem
