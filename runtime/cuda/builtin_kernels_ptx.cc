// The text of the built-in kernels: written by hand, with the types filled in.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "runtime/cuda/builtin_kernels.h"
#include "runtime/cuda/builtin_kernels_text.h"

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

// A number is not finite when its exponent is all ones.
std::string Finite(const std::string& name, const std::string& bits, const std::string& reg, const std::string& bytes,
                   const std::string& mask) {
  return PtxEntry(absl::StrCat("td_finite_", name), ".param .u64 data, .param .u64 count, .param .u64 flag",
                  absl::StrCat(kPtxGridIndex, R"(
  ld.param.u64 %rd4, [data];
  ld.param.u64 %rd3, [count];
  ld.param.u64 %rd5, [flag];
)",
                               PtxLoop(absl::StrReplaceAll(R"(
  mad.lo.u64 %rd6, %rd0, BYTES, %rd4;
  ld.global.uBITS REG8, [%rd6];
  and.bWIDE REG8, REG8, MASK;
  setp.eq.uWIDE %p2, REG8, MASK;
  mov.u32 %r9, 1;
  @%p2 st.global.u32 [%rd5], %r9;
)",
                                                           {{"BITS", bits},
                                                            {"WIDE", bits == "16" ? "32" : bits},
                                                            {"REG", reg},
                                                            {"BYTES", bytes},
                                                            {"MASK", mask}}))));
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

// A warp has one row and 32 columns of the table; it looks through the indices 128 at a time, and adds what it finds in
// the order of positions. Items are (row, block of columns), columns inside.
std::string Scatter(const std::string& type, const std::string& bytes, const std::string& index,
                    const std::string& index_bytes) {
  // `j`-th 32 indices of a block of 128: the mask of those that are the row, then each of them.
  auto group = [&](int j) {
    return absl::StrReplaceAll(R"(
  add.u64 %rd15, %rd14, OFFSET;
  setp.lt.u64 %p3, %rd15, %rd6;
  mov.INDEX %iJ, -1;
  mad.lo.u64 %rd16, %rd15, IBYTES, %rd5;
  @%p3 ld.global.INDEX %iJ, [%rd16];
)",
                               {{"OFFSET", absl::StrCat(j * 32)}, {"%iJ", absl::StrCat("%i", j)}});
  };
  auto add = [&](int j) {
    return absl::StrReplaceAll(R"(
  setp.eq.INDEX %p3, %iJ, %i4;
  vote.sync.ballot.b32 %r10, %p3, 0xffffffff;
NEXTJ:
  setp.eq.u32 %p3, %r10, 0;
  @%p3 bra DONEJ;
  brev.b32 %r11, %r10;
  clz.b32 %r11, %r11;
  sub.u32 %r12, %r10, 1;
  and.b32 %r10, %r10, %r12;
  cvt.u64.u32 %rd17, %r11;
  add.u64 %rd17, %rd17, %rd13;
  add.u64 %rd17, %rd17, OFFSET;
  mad.lo.u64 %rd17, %rd17, %rd7, %rd12;
  mad.lo.u64 %rd17, %rd17, BYTES, %rd4;
  @%p2 ld.global.TYPE %v1, [%rd17];
  @%p2 add.rn.TYPE %v0, %v0, %v1;
  bra NEXTJ;
DONEJ:
)",
                               {{"OFFSET", absl::StrCat(j * 32)},
                                {"%iJ", absl::StrCat("%i", j)},
                                {"NEXTJ", absl::StrCat("NEXT", j)},
                                {"DONEJ", absl::StrCat("DONE", j)}});
  };
  const std::string body =
      absl::StrCat(R"(
  .reg .TYPE %v<4>;
  .reg .INDEX %i<8>;
  ld.param.u64 %rd2, [guard];
)",
                   kPtxGuard, kPtxGridIndex, R"(
  ld.param.u64 %rd4, [updates];
  ld.param.u64 %rd5, [indices];
  ld.param.u64 %rd6, [count];
  ld.param.u64 %rd7, [width];
  ld.param.u64 %rd3, [items];
  ld.param.u64 %rd8, [table];
  ld.param.u64 %rd9, [column_blocks];
  and.b32 %r5, %r2, 31;
  cvt.u64.u32 %rd20, %r5;
  shr.u64 %rd0, %rd0, 5;
  shr.u64 %rd1, %rd1, 5;
)",
                   PtxLoop(absl::StrCat(R"(
  div.u64 %rd10, %rd0, %rd9;
  mul.lo.u64 %rd11, %rd10, %rd9;
  sub.u64 %rd11, %rd0, %rd11;
  shl.b64 %rd11, %rd11, 5;
  add.u64 %rd12, %rd11, %rd20;
  setp.lt.u64 %p2, %rd12, %rd7;
  cvt.INDEX.s64 %i4, %rd10;
  mov.TYPE %v0, ZERO;
  mov.u64 %rd13, 0;
SCAN:
  setp.ge.u64 %p3, %rd13, %rd6;
  @%p3 bra STORE;
  add.u64 %rd14, %rd13, %rd20;
)",
                                        group(0), group(1), group(2), group(3), add(0), add(1), add(2), add(3), R"(
  add.u64 %rd13, %rd13, 128;
  bra SCAN;
STORE:
  mad.lo.u64 %rd18, %rd10, %rd7, %rd12;
  mad.lo.u64 %rd18, %rd18, BYTES, %rd8;
  @%p2 st.global.TYPE [%rd18], %v0;
)")));
  return absl::StrReplaceAll(
      PtxEntry(absl::StrCat("td_scatter_", type, "_", index),
               ".param .u64 updates, .param .u64 indices, .param .u64 count, .param .u64 width, .param .u64 items, "
               ".param .u64 table, .param .u64 column_blocks, .param .u64 guard",
               body),
      {{"IBYTES", index_bytes},
       {"INDEX", index},
       {"BYTES", bytes},
       {"TYPE", type},
       {"ZERO", type == "f32" ? "0f00000000" : "0d0000000000000000"}});
}

std::string Text() {
  std::string text = ".version 6.4\n.target sm_75\n.address_size 64\n\n";
  text += Finite("f32", "32", "%r", "4", "0x7f800000");
  text += Finite("bf16", "16", "%r", "2", "0x7f80");
  text += Finite("f64", "64", "%rd", "8", "0x7ff0000000000000");
  text += Copy("8", "%r", "1") + Copy("32", "%r", "4") + Copy("64", "%rd", "8");
  for (const char* type : {"f32", "f64"}) {
    const std::string bytes = type == std::string("f32") ? "4" : "8";
    text += Scatter(type, bytes, "s32", "4") + Scatter(type, bytes, "s64", "8");
  }
  return text + ScatterKernelsPtx();
}

}  // namespace

const std::string& BuiltinKernelsPtx() {
  static const std::string& text = *new std::string(Text());
  return text;
}

}  // namespace tandem
