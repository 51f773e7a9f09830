// The text of library_kernels.h's kernels, put together from parts that differ in their types only.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "runtime/cuda/kernels/library_kernels.h"

namespace tandem {
namespace {

// Load and Store: %rd1.. are addresses; element `index` of type f32 or bf16 is loaded as the float32 %f<f>, or stored
// from it. bfloat16 is rounded by hand, because cvt.rn.bf16.f32 needs compute capability 8.0: add half of the last
// place that stays, less one where that place is even. A NaN would overflow, and only loses the lower half of its
// payload.
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

// Returns a kernel in which 256 threads transpose one 32 x 32 tile, through shared memory with a column of padding
// against bank conflicts: lane x of row y of the threads reads (y + 8k, x) and writes the transposed (x, y + 8k), both
// along rows.
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

// Returns a kernel with one element per thread. %rd5: the thread's element, which is below the parameter n.
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
    // The result is a where a > b or a is a NaN, else b: max.f32 would return the other operand for a NaN.
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

// Addresses are only numbers here, without a state space. The products use them as generic addresses, which are the
// same numbers for global memory.
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

// Returns the start of a kernel for a part of an epilogue, computed in place where the library cannot. %rd9 becomes the
// address of the thread's element of y.
std::string EpilogueElement(const std::string& type) {
  return absl::StrCat("  ld.param.u64 %rd1, [y];\n  cvta.to.global.u64 %rd1, %rd1;\n  mad.lo.u64 %rd9, %rd5, ",
                      SizeOfType(type), ", %rd1;\n");
}

std::string AddBias(const std::string& type) {
  return ElementWise(absl::StrCat("td_add_bias_", type), ".param .u64 y, .param .u64 bias, .param .u64 columns",
                     absl::StrCat(EpilogueElement(type), R"(  ld.param.u64 %rd2, [bias];
  ld.param.u64 %rd4, [columns];
  cvta.to.global.u64 %rd2, %rd2;
  rem.u64 %rd7, %rd5, %rd4;
  mad.lo.u64 %rd7, %rd7, 4, %rd2;
  ld.global.f32 %f2, [%rd7];
)",
                                  Load(type), "  add.rn.f32 %f1, %f1, %f2;\n", Store(type)));
}

// The relu of a NaN is a NaN, as td.relu's is.
constexpr char kRelu[] = "  setp.gtu.f32 %p2, %f1, %f3;\n  selp.f32 %f1, %f1, %f3, %p2;\n";

std::string Relu(const std::string& type) {
  return ElementWise(
      absl::StrCat("td_relu_", type), ".param .u64 y",
      absl::StrCat(EpilogueElement(type), "  mov.f32 %f3, 0f00000000;\n", Load(type), kRelu, Store(type)));
}

// Each thread computes one byte of the mask, for eight elements of a row.
std::string ReluMask(const std::string& type) {
  std::string body = absl::StrCat(R"(  ld.param.u64 %rd1, [y];
  ld.param.u64 %rd2, [mask];
  ld.param.u64 %rd4, [columns];
  ld.param.u64 %rd10, [stride];
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  add.u64 %rd6, %rd4, 7;
  shr.u64 %rd6, %rd6, 3;
  div.u64 %rd7, %rd5, %rd6;
  rem.u64 %rd8, %rd5, %rd6;
  mad.lo.u64 %rd11, %rd7, %rd10, %rd8;
  add.u64 %rd11, %rd11, %rd2;
  shl.b64 %rd8, %rd8, 3;
  mad.lo.u64 %rd12, %rd7, %rd4, %rd8;
  mad.lo.u64 %rd9, %rd12, )",
                                  SizeOfType(type), ", %rd1;\n  mov.u32 %r10, 0;\n  mov.f32 %f3, 0f00000000;\n");
  for (int k = 0; k < 8; ++k) {
    absl::StrAppend(&body, "  setp.ge.u64 %p3, %rd8, %rd4;\n  @%p3 bra BYTE_END;\n", Load(type), kRelu,
                    "  setp.gt.f32 %p2, %f1, %f3;\n  selp.b32 %r11, ", 1 << k,
                    ", 0, %p2;\n  or.b32 %r10, %r10, %r11;\n", Store(type),
                    "  add.u64 %rd8, %rd8, 1;\n  add.u64 %rd9, %rd9, ", SizeOfType(type), ";\n");
  }
  return ElementWise(absl::StrCat("td_relu_mask_", type),
                     ".param .u64 y, .param .u64 mask, .param .u64 columns, .param .u64 stride",
                     absl::StrCat(body, "BYTE_END:\n  st.global.u8 [%rd11], %r10;\n"));
}

std::string ReluGrad(const std::string& type) {
  return ElementWise(absl::StrCat("td_relu_grad_", type),
                     ".param .u64 y, .param .u64 mask, .param .u64 columns, .param .u64 stride",
                     absl::StrCat(EpilogueElement(type), R"(  ld.param.u64 %rd2, [mask];
  ld.param.u64 %rd4, [columns];
  ld.param.u64 %rd10, [stride];
  cvta.to.global.u64 %rd2, %rd2;
  div.u64 %rd7, %rd5, %rd4;
  rem.u64 %rd8, %rd5, %rd4;
  shr.u64 %rd11, %rd8, 3;
  mad.lo.u64 %rd11, %rd7, %rd10, %rd11;
  add.u64 %rd11, %rd11, %rd2;
  ld.global.u8 %r10, [%rd11];
  cvt.u32.u64 %r11, %rd8;
  and.b32 %r11, %r11, 7;
  shr.u32 %r10, %r10, %r11;
  and.b32 %r10, %r10, 1;
  setp.ne.u32 %p2, %r10, 0;
  mov.f32 %f3, 0f00000000;
)",
                                  Load(type), "  selp.f32 %f1, %f1, %f3, %p2;\n", Store(type)));
}

// %f5 = tanh(sqrt(2/pi) (x + 0.044715 x^3)) = 1 - 2 / (1 + 2^v) of x = %f1; %f4 = x^2, %f7 = 1. The approximation of
// the power is good to two units in the last place; that of tanh itself would be good to eleven bits.
constexpr char kGeluTanh[] = R"(  mov.f32 %f7, 0f3F800000;
  mul.rn.f32 %f4, %f1, %f1;
  mul.rn.f32 %f5, %f4, 0f3D372713;
  add.rn.f32 %f5, %f5, %f7;
  mul.rn.f32 %f5, %f5, %f1;
  mul.rn.f32 %f5, %f5, 0f40135761;
  ex2.approx.f32 %f5, %f5;
  add.rn.f32 %f5, %f5, %f7;
  mov.f32 %f6, 0f40000000;
  div.rn.f32 %f5, %f6, %f5;
  sub.rn.f32 %f5, %f7, %f5;
)";

std::string Gelu(const std::string& type) {
  return ElementWise(absl::StrCat("td_gelu_", type), ".param .u64 y",
                     absl::StrCat(EpilogueElement(type), Load(type), kGeluTanh, R"(  add.rn.f32 %f6, %f5, %f7;
  mul.rn.f32 %f6, %f6, 0f3F000000;
  mul.rn.f32 %f1, %f6, %f1;
)",
                                  Store(type)));
}

// Multiplies y by the slope at x: (1 + t) / 2 + x (1 - t^2) sqrt(2/pi) (1 + 3 0.044715 x^2) / 2.
std::string GeluGrad(const std::string& type) {
  return ElementWise(
      absl::StrCat("td_gelu_grad_", type), ".param .u64 y, .param .u64 x",
      absl::StrCat("  ld.param.u64 %rd2, [x];\n  cvta.to.global.u64 %rd2, %rd2;\n  mad.lo.u64 %rd9, %rd5, ",
                   SizeOfType(type), ", %rd2;\n", Load(type), kGeluTanh, R"(  mul.rn.f32 %f4, %f4, 0f3E095D4F;
  add.rn.f32 %f4, %f4, %f7;
  mul.rn.f32 %f4, %f4, 0f3F4C422A;
  mul.rn.f32 %f6, %f5, %f5;
  sub.rn.f32 %f6, %f7, %f6;
  mul.rn.f32 %f4, %f4, %f6;
  mul.rn.f32 %f4, %f4, %f1;
  add.rn.f32 %f5, %f5, %f7;
  add.rn.f32 %f4, %f4, %f5;
  mul.rn.f32 %f4, %f4, 0f3F000000;
)",
                   EpilogueElement(type), Load(type), "  mul.rn.f32 %f1, %f1, %f4;\n", Store(type)));
}

// Each thread adds up one column, in the order of its rows.
std::string ColumnSums() {
  return ElementWise("td_column_sums_f32", ".param .u64 in, .param .u64 out, .param .u64 rows",
                     R"(  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  ld.param.u64 %rd4, [rows];
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  mad.lo.u64 %rd9, %rd5, 4, %rd1;
  mad.lo.u64 %rd10, %rd5, 4, %rd2;
  shl.b64 %rd7, %rd3, 2;
  mov.f32 %f2, 0f00000000;
  mov.u64 %rd8, 0;
ROW:
  setp.ge.u64 %p2, %rd8, %rd4;
  @%p2 bra SUMMED;
  ld.global.f32 %f1, [%rd9];
  add.rn.f32 %f2, %f2, %f1;
  add.u64 %rd9, %rd9, %rd7;
  add.u64 %rd8, %rd8, 1;
  bra ROW;
SUMMED:
  st.global.f32 [%rd10], %f2;
)");
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
  for (const char* type : {"f32", "bf16"}) {
    text += AddBias(type) + Relu(type) + ReluMask(type) + ReluGrad(type) + Gelu(type) + GeluGrad(type);
  }
  return text + ColumnSums() + Divide("f32") + Divide("f64") + MatrixAddresses();
}

}  // namespace

const std::string& LibraryKernelsPtx() {
  static const std::string* text = new std::string(Build());
  return *text;
}

}  // namespace tandem
