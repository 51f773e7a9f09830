// The text of library_kernels.h's kernels, put together from parts that differ in their types only.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "runtime/cuda/library_kernels.h"

namespace tandem {
namespace {

// %rd1.. are addresses; element `index` of type f32 or bf16 is loaded as the float32 %f<f>, or stored from it.
// bfloat16 is rounded by hand, because cvt.rn.bf16.f32 needs compute capability 8.0: add half of the last place that
// stays, less one where that place is even. A NaN would overflow, and only loses the lower half of its payload.
std::string Load(const std::string& type) {
  if (type == "f32") return "  ld.global.f32 %f1, [%rd9];\n";
  return "  ld.global.u16 %r20, [%rd9];\n  shl.b32 %r20, %r20, 16;\n  mov.b32 %f1, %r20;\n";
}

std::string Store(const std::string& type) {
  if (type == "f32") return "  st.global.f32 [%rd9], %f1;\n";
  return R"(  mov.b32 %r20, %f1;
  shr.u32 %r21, %r20, 16;
  and.b32 %r22, %r21, 1;
  add.u32 %r22, %r22, 32767;
  add.u32 %r22, %r20, %r22;
  shr.u32 %r22, %r22, 16;
  or.b32 %r21, %r21, 64;
  setp.nan.f32 %p9, %f1, %f1;
  selp.b32 %r22, %r21, %r22, %p9;
  st.global.u16 [%rd9], %r22;
)";
}

std::string SizeOfType(const std::string& type) { return type == "bf16" ? "2" : "4"; }

// One 32 x 32 tile by 256 threads, through shared memory with a column of padding against bank conflicts: lane x of row
// y of the threads reads (y + 8k, x) and writes the transposed (x, y + 8k), both along rows.
std::string Transpose(const std::string& from, const std::string& to) {
  std::string text = absl::StrCat(".visible .entry td_transpose_", from, "_", to, R"((
  .param .u64 in, .param .u64 out, .param .u64 rows, .param .u64 columns)
.maxntid 256, 1, 1
{
  .reg .pred %p<12>;
  .reg .b32 %r<32>;
  .reg .b64 %rd<24>;
  .reg .f32 %f<4>;
  .shared .align 4 .b8 tile[4224];
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  ld.param.u64 %rd3, [rows];
  ld.param.u64 %rd4, [columns];
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 31;
  shr.u32 %r3, %r1, 5;
  mov.u32 %r4, %ctaid.x;
  cvt.u64.u32 %rd5, %r4;
  add.u64 %rd6, %rd4, 31;
  shr.u64 %rd6, %rd6, 5;
  div.u64 %rd7, %rd5, %rd6;
  rem.u64 %rd8, %rd5, %rd6;
  shl.b64 %rd7, %rd7, 5;
  shl.b64 %rd8, %rd8, 5;
  cvt.u64.u32 %rd10, %r2;
  cvt.u64.u32 %rd11, %r3;
  mov.u32 %r10, tile;
)");
  for (int k = 0; k < 4; ++k) {
    absl::StrAppend(
        &text, absl::StrReplaceAll(R"(  add.u64 %rd12, %rd7, %rd11;
  add.u64 %rd12, %rd12, $K;
  add.u64 %rd13, %rd8, %rd10;
  setp.ge.u64 %p1, %rd12, %rd3;
  setp.ge.u64 %p2, %rd13, %rd4;
  or.pred %p3, %p1, %p2;
  @%p3 bra READ_END_$K;
  mad.lo.u64 %rd14, %rd12, %rd4, %rd13;
  mad.lo.u64 %rd9, %rd14, $SIZE, %rd1;
$LOAD  add.u32 %r11, %r3, $K;
  mad.lo.u32 %r11, %r11, 33, %r2;
  mad.lo.u32 %r11, %r11, 4, %r10;
  st.shared.f32 [%r11], %f1;
READ_END_$K:
)",
                                   {{"$K", absl::StrCat(8 * k)}, {"$SIZE", SizeOfType(from)}, {"$LOAD", Load(from)}}));
  }
  absl::StrAppend(&text, "  bar.sync 0;\n");
  for (int k = 0; k < 4; ++k) {
    absl::StrAppend(
        &text, absl::StrReplaceAll(R"(  add.u64 %rd12, %rd8, %rd11;
  add.u64 %rd12, %rd12, $K;
  add.u64 %rd13, %rd7, %rd10;
  setp.ge.u64 %p1, %rd12, %rd4;
  setp.ge.u64 %p2, %rd13, %rd3;
  or.pred %p3, %p1, %p2;
  @%p3 bra WRITE_END_$K;
  add.u32 %r11, %r3, $K;
  mad.lo.u32 %r11, %r2, 33, %r11;
  mad.lo.u32 %r11, %r11, 4, %r10;
  ld.shared.f32 %f1, [%r11];
  mad.lo.u64 %rd14, %rd12, %rd3, %rd13;
  mad.lo.u64 %rd9, %rd14, $SIZE, %rd2;
$STOREWRITE_END_$K:
)",
                                   {{"$K", absl::StrCat(8 * k)}, {"$SIZE", SizeOfType(to)}, {"$STORE", Store(to)}}));
  }
  absl::StrAppend(&text, "  ret;\n}\n");
  return text;
}

// %rd5: the thread's element, which is below the third parameter.
std::string ElementWise(const std::string& name, const std::string& parameters, const std::string& body) {
  return absl::StrReplaceAll(R"(.visible .entry $NAME(
  $PARAMETERS, .param .u64 n)
.maxntid 256, 1, 1
{
  .reg .pred %p<12>;
  .reg .b32 %r<32>;
  .reg .b64 %rd<24>;
  .reg .f32 %f<10>;
  .reg .f64 %fd<4>;
  ld.param.u64 %rd3, [n];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mul.wide.u32 %rd5, %r2, 256;
  cvt.u64.u32 %rd6, %r1;
  add.u64 %rd5, %rd5, %rd6;
  setp.ge.u64 %p1, %rd5, %rd3;
  @%p1 bra END;
$BODYEND:
  ret;
}
)",
                             {{"$NAME", name}, {"$PARAMETERS", parameters}, {"$BODY", body}});
}

std::string Convert(const std::string& from, const std::string& to) {
  return ElementWise(
      absl::StrCat("td_convert_", from, "_", to), ".param .u64 in, .param .u64 out",
      absl::StrCat("  ld.param.u64 %rd1, [in];\n  ld.param.u64 %rd2, [out];\n  cvta.to.global.u64 %rd1, %rd1;\n"
                   "  cvta.to.global.u64 %rd2, %rd2;\n  mad.lo.u64 %rd9, %rd5, ",
                   SizeOfType(from), ", %rd1;\n", Load(from), "  mad.lo.u64 %rd9, %rd5, ", SizeOfType(to), ", %rd2;\n",
                   Store(to)));
}

std::string Register(const std::string& type, int i) {
  const char* prefix = type == "f32" ? "%f" : type == "f64" ? "%fd" : type == "s32" ? "%r1" : "%rd1";
  return absl::StrCat(prefix, i);
}

std::string Combine(const std::string& op, const std::string& type) {
  const std::string a = Register(type, 1), b = Register(type, 2);
  const bool is_float = type[0] == 'f', wide = type[1] == '6';
  std::string combine;
  if (op == "add") {
    combine = absl::StrCat("  add", is_float ? ".rn" : "", ".", type, " ", a, ", ", a, ", ", b, ";\n");
  } else if (is_float) {
    // a where a > b or a is no number, else b: max.f32 would give the other operand for a NaN.
    combine = absl::StrCat("  setp.gt.", type, " %p2, ", a, ", ", b, ";\n  setp.nan.", type, " %p3, ", a, ", ", a,
                           ";\n  or.pred %p2, %p2, %p3;\n  selp.", type, " ", a, ", ", a, ", ", b, ", %p2;\n");
  } else {
    combine = absl::StrCat("  max.", type, " ", a, ", ", a, ", ", b, ";\n");
  }
  return ElementWise(
      absl::StrCat("td_", op, "_", type), ".param .u64 a, .param .u64 b",
      absl::StrCat("  ld.param.u64 %rd1, [a];\n  ld.param.u64 %rd2, [b];\n  cvta.to.global.u64 %rd1, %rd1;\n"
                   "  cvta.to.global.u64 %rd2, %rd2;\n  mad.lo.u64 %rd7, %rd5, ",
                   wide ? "8" : "4", ", %rd1;\n  mad.lo.u64 %rd8, %rd5, ", wide ? "8" : "4", ", %rd2;\n  ld.global.",
                   type, " ", a, ", [%rd7];\n  ld.global.", type, " ", b, ", [%rd8];\n", combine, "  st.global.", type,
                   " [%rd7], ", a, ";\n"));
}

std::string Divide(const std::string& type) {
  const std::string a = Register(type, 1), b = Register(type, 2), bytes = type == "f64" ? "8" : "4";
  return ElementWise(absl::StrCat("td_divide_", type), ".param .u64 a, .param .u64 divisor",
                     absl::StrCat("  ld.param.u64 %rd1, [a];\n  ld.param.u64 %rd2, [divisor];\n"
                                  "  cvta.to.global.u64 %rd1, %rd1;\n  cvt.rn.",
                                  type, ".u64 ", b, ", %rd2;\n  mad.lo.u64 %rd7, %rd5, ", bytes,
                                  ", %rd1;\n  ld.global.", type, " ", a, ", [%rd7];\n  div.rn.", type, " ", a, ", ", a,
                                  ", ", b, ";\n  st.global.", type, " [%rd7], ", a, ";\n"));
}

// The addresses are numbers here, not state spaces: whoever reads them uses them as generic ones, and those of global
// memory are the same.
std::string MatrixAddresses() {
  std::string parameters = ".param .u64 out";
  std::string body = R"(  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [inner];
  cvta.to.global.u64 %rd1, %rd1;
  rem.u64 %rd7, %rd5, %rd2;
  div.u64 %rd8, %rd5, %rd2;
  mad.lo.u64 %rd9, %rd5, 8, %rd1;
)";
  for (int k = 0; k < 3; ++k) {
    absl::StrAppend(&parameters, ", .param .u64 base_", k, ", .param .u64 inner_", k, ", .param .u64 outer_", k);
    absl::StrAppend(&body, absl::StrReplaceAll(R"(  ld.param.u64 %rd10, [base_$K];
  ld.param.u64 %rd11, [inner_$K];
  ld.param.u64 %rd12, [outer_$K];
  mad.lo.u64 %rd10, %rd7, %rd11, %rd10;
  mad.lo.u64 %rd10, %rd8, %rd12, %rd10;
  st.global.u64 [%rd9], %rd10;
)",
                                               {{"$K", absl::StrCat(k)}}));
    if (k < 2) absl::StrAppend(&body, "  mad.lo.u64 %rd9, %rd3, 8, %rd9;\n");
  }
  return ElementWise("td_matrix_addresses", parameters + ", .param .u64 inner", body);
}

std::string Build() {
  std::string text = ".version 6.4\n.target sm_75\n.address_size 64\n";
  for (const char* from : {"f32", "bf16"}) {
    for (const char* to : {"f32", "bf16"}) text += Transpose(from, to);
  }
  text += Convert("f32", "bf16") + Convert("bf16", "f32");
  for (const char* op : {"add", "max"}) {
    for (const char* type : {"f32", "f64", "s32", "s64"}) text += Combine(op, type);
  }
  return text + Divide("f32") + Divide("f64") + MatrixAddresses();
}

}  // namespace

const std::string& LibraryKernelsPtx() {
  static const std::string* text = new std::string(Build());
  return *text;
}

}  // namespace tandem
