#include "base/cpu_features.h"

#include <cpuid.h>

#include <array>
#include <cstdint>

namespace tandem {
namespace {

// The questions that are put to the instruction CPUID, and the registers that hold its answers.
enum Question { kBasic, kStructured, kStructured1, kExtended, kQuestions };
enum Register { kEax, kEbx, kEcx, kEdx, kRegisters };
using Answers = std::array<std::array<uint32_t, kRegisters>, kQuestions>;

// Registers that the operating system has to keep for each thread, as bits of the control register XCR0.
constexpr uint64_t kAlways = 0, kAvxState = 0x6, kAvx512State = 0xe6, kTileState = 0x60000;

struct Feature {
  const char* name;
  Question question;
  Register answer;
  int bit;
  uint64_t state;
};

constexpr Feature kFeatures[] = {
    {"sse2", kBasic, kEdx, 26, kAlways},
    {"sse4.1", kBasic, kEcx, 19, kAlways},
    {"sse4.2", kBasic, kEcx, 20, kAlways},
    {"popcnt", kBasic, kEcx, 23, kAlways},
    {"lzcnt", kExtended, kEcx, 5, kAlways},
    {"bmi", kStructured, kEbx, 3, kAlways},
    {"bmi2", kStructured, kEbx, 8, kAlways},
    {"avx", kBasic, kEcx, 28, kAvxState},
    {"f16c", kBasic, kEcx, 29, kAvxState},
    {"fma", kBasic, kEcx, 12, kAvxState},
    {"avx2", kStructured, kEbx, 5, kAvxState},
    {"avx512f", kStructured, kEbx, 16, kAvx512State},
    {"avx512dq", kStructured, kEbx, 17, kAvx512State},
    {"avx512cd", kStructured, kEbx, 28, kAvx512State},
    {"avx512bw", kStructured, kEbx, 30, kAvx512State},
    {"avx512vl", kStructured, kEbx, 31, kAvx512State},
    {"avx512bf16", kStructured1, kEax, 5, kAvx512State},
    {"amx-bf16", kStructured, kEdx, 22, kTileState},
    {"amx-tile", kStructured, kEdx, 24, kTileState},
};

// Executes CPUID for each question. The answer is zero if the processor does not support the question.
Answers AskProcessor() {
  struct Leaf {
    uint32_t leaf, subleaf;
  };
  constexpr Leaf kLeaves[kQuestions] = {{1, 0}, {7, 0}, {7, 1}, {0x80000001, 0}};
  Answers answers = {};
  for (int i = 0; i < kQuestions; ++i) {
    auto& [eax, ebx, ecx, edx] = answers[i];
    __get_cpuid_count(kLeaves[i].leaf, kLeaves[i].subleaf, &eax, &ebx, &ecx, &edx);
  }
  return answers;
}

bool HasBit(uint32_t word, int bit) { return (word >> bit & 1) != 0; }

// Returns XCR0; 0 where the operating system keeps only the registers that every processor has.
uint64_t KeptState(const Answers& answers) {
  constexpr int kReadableXcr0 = 27;
  if (!HasBit(answers[kBasic][kEcx], kReadableXcr0)) return 0;
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

}  // namespace

const std::map<std::string, bool, std::less<>>& CpuFeatures() {
  static const auto* const features = [] {
    const Answers answers = AskProcessor();
    const uint64_t kept = KeptState(answers);
    auto* all = new std::map<std::string, bool, std::less<>>;
    for (const Feature& f : kFeatures) {
      (*all)[f.name] = HasBit(answers[f.question][f.answer], f.bit) && (kept & f.state) == f.state;
    }
    return all;
  }();
  return *features;
}

}  // namespace tandem
