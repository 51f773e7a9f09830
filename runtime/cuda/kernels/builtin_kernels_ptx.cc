// The text of the built-in kernels: written by hand, with the types filled in.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "runtime/cuda/kernels/builtin_kernels.h"
#include "runtime/cuda/kernels/builtin_kernels_text.h"

namespace tandem {
namespace {

const char kRegisters[] = "  .reg .b32 %r<32>;\n  .reg .b64 %rd<32>;\n  .reg .pred %p<8>;\n";

}  // namespace

std::string PtxEntry(const std::string& name, const std::string& params, const std::string& body) {
  return absl::StrCat(".visible .entry ", name, "(", params, ")\n.maxntid 256\n{\n", kRegisters, body, "}\n\n");
}

std::string PtxLoop(const std::string& body) {
  return absl::StrCat("LOOP:\n  setp.ge.u64 %p1, %rd0, %rd3;\n  @%p1 ret;\n", body,
                      "  add.u64 %rd0, %rd0, %rd1;\n  bra LOOP;\n");
}

namespace {

// Returns a loop that sets the flag, at %rd5, where an element of an array at %rd4 is not finite: its exponent is all
// ones.
std::string FiniteLoop(const std::string& bits, const std::string& reg, const std::string& bytes,
                       const std::string& mask) {
  return PtxLoop(absl::StrReplaceAll(
      R"(
  mad.lo.u64 %rd6, %rd0, BYTES, %rd4;
  ld.global.uBITS REG8, [%rd6];
  and.bWIDE REG8, REG8, MASK;
  setp.eq.uWIDE %p2, REG8, MASK;
  mov.u32 %r9, 1;
  @%p2 st.global.u32 [%rd5], %r9;
)",
      {{"BITS", bits}, {"WIDE", bits == "16" ? "32" : bits}, {"REG", reg}, {"BYTES", bytes}, {"MASK", mask}}));
}

std::string Finite(const std::string& name, const std::string& bits, const std::string& reg, const std::string& bytes,
                   const std::string& mask) {
  return PtxEntry(absl::StrCat("td_finite_", name), ".param .u64 data, .param .u64 count, .param .u64 flag",
                  absl::StrCat(kPtxGridIndex, R"(
  ld.param.u64 %rd4, [data];
  ld.param.u64 %rd3, [count];
  ld.param.u64 %rd5, [flag];
)",
                               FiniteLoop(bits, reg, bytes, mask)));
}

// Returns a kernel in which each block checks its entry of the table (FiniteChunk).
std::string FiniteChunks(const std::string& name, const std::string& bits, const std::string& reg,
                         const std::string& bytes, const std::string& mask) {
  return PtxEntry(absl::StrCat("td_finite_chunks_", name), ".param .u64 table, .param .u64 flag",
                  absl::StrCat(R"(
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  ld.param.u64 %rd7, [table];
  ld.param.u64 %rd5, [flag];
  mul.wide.u32 %rd8, %r0, 16;
  add.u64 %rd7, %rd7, %rd8;
  ld.global.u64 %rd4, [%rd7];
  add.u64 %rd7, %rd7, 8;
  ld.global.u64 %rd3, [%rd7];
  cvt.u64.u32 %rd0, %r2;
  cvt.u64.u32 %rd1, %r1;
)",
                               FiniteLoop(bits, reg, bytes, mask)));
}

std::string Copy(const std::string& bits, const std::string& reg, const std::string& bytes) {
  return PtxEntry(absl::StrCat("td_copy_", bytes),
                  ".param .u64 to, .param .u64 from, .param .u64 count, .param .u64 guard",
                  absl::StrCat(R"(
  ld.param.u64 %rd2, [guard];
)",
                               kPtxGuard, kPtxGridIndex, R"(
  ld.param.u64 %rd4, [to];
  ld.param.u64 %rd5, [from];
  ld.param.u64 %rd3, [count];
)",
                               PtxLoop(absl::StrReplaceAll(R"(
  mad.lo.u64 %rd6, %rd0, BYTES, %rd5;
  mad.lo.u64 %rd7, %rd0, BYTES, %rd4;
  ld.global.uBITS REG8, [%rd6];
  st.global.uBITS [%rd7], REG8;
)",
                                                           {{"BITS", bits}, {"REG", reg}, {"BYTES", bytes}}))));
}

std::string Text() {
  std::string text = ".version 6.4\n.target sm_75\n.address_size 64\n\n";
  for (auto* entry : {Finite, FiniteChunks}) {
    text += entry("f32", "32", "%r", "4", "0x7f800000");
    text += entry("bf16", "16", "%r", "2", "0x7f80");
    text += entry("f64", "64", "%rd", "8", "0x7ff0000000000000");
  }
  text += Copy("8", "%r", "1") + Copy("32", "%r", "4") + Copy("64", "%rd", "8");
  return text + ScatterKernelsPtx();
}

}  // namespace

const std::string& BuiltinKernelsPtx() {
  static const std::string& text = *new std::string(Text());
  return text;
}

}  // namespace tandem
