#include "runtime/conformance/conformance_kernels.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "runtime/cuda/testing/gpu_program.h"
#include "runtime/testing/compile_ir.h"

namespace tandem {
namespace {

const char kAffineIr[] = R"(
  %x = load <4 x float>, ptr %p0, align 4
  %w = load <4 x float>, ptr %p1, align 4
  %n = add i64 %i, %row_offset
  %f = sitofp i64 %n to float
  %v0 = insertelement <4 x float> poison, float %f, i32 0
  %v = shufflevector <4 x float> %v0, <4 x float> poison, <4 x i32> zeroinitializer
  %m = fmul <4 x float> %x, %w
  %y = fadd <4 x float> %m, %v
  store <4 x float> %y, ptr %p2, align 4
)";
const char kColumnIr[] = R"(
  %first = icmp eq i64 %i, %begin
  %y = load <4 x float>, ptr %p0, align 4
  %old = load <4 x float>, ptr %p1, align 4
  OP
  store <4 x float> %new, ptr %p1, align 4
)";
const char kSumIr[] = R"(
  %from = select i1 %first, <4 x float> zeroinitializer, <4 x float> %old
  %new = fadd <4 x float> %from, %y
)";
const char kMaxIr[] = R"(
  %from = select i1 %first, <4 x float> %y, <4 x float> %old
  %greater = fcmp ugt <4 x float> %y, %from
  %new = select <4 x i1> %greater, <4 x float> %y, <4 x float> %from
)";
const char kGatherIr[] = R"(
  %k = load i32, ptr %p0, align 4
  %k64 = sext i32 %k to i64
  %offset = mul i64 %k64, 16
  %from = getelementptr i8, ptr %p1, i64 %offset
  %row = load <4 x float>, ptr %from, align 4
  store <4 x float> %row, ptr %p2, align 4
)";
const char kTotalIr[] = R"(
  %v = load <4 x float>, ptr %p0, align 4
  %a = extractelement <4 x float> %v, i32 0
  %b = extractelement <4 x float> %v, i32 1
  %c = extractelement <4 x float> %v, i32 2
  %d = extractelement <4 x float> %v, i32 3
  %ab = fadd float %a, %b
  %abc = fadd float %ab, %c
  %abcd = fadd float %abc, %d
  store float %abcd, ptr %p1, align 4
)";
const char kUpdateIr[] = R"(
  %a = load float, ptr %p0, align 4
  %g = load float, ptr %p1, align 4
  %rate = load float, ptr %p2, align 4
  %s = fmul float %rate, %g
  %b = fsub float %a, %s
  store float %b, ptr %p3, align 4
)";

// Returns the PTX of an entry with `args` buffers in %rd10, %rd11, ...; %rd0: begin + the thread's index, %rd1: end,
// %rd2: the row offset, %rd3: begin, %rd4: the thread's index in the block.
std::string Entry(const std::string& name, int args, const std::string& body) {
  std::string params, loads;
  for (int i = 0; i < args; ++i) {
    absl::StrAppend(&params, ".param .u64 a", i, ", ");
    absl::StrAppend(&loads, "  ld.param.u64 %rd", 10 + i, ", [a", i, "];\n");
  }
  return absl::StrCat(".visible .entry ", name, "(", params,
                      ".param .u64 begin, .param .u64 end, .param .u64 row_offset, .param .u64 scratch, "
                      ".param .u64 guard)\n{\n  .reg .b64 %rd<32>;\n  .reg .b32 %r<8>;\n  .reg .f32 %f<16>;\n"
                      "  .reg .pred %p<4>;\n  .reg .f32 %s;\n",
                      loads, R"(
  ld.param.u64 %rd5, [guard];
  setp.eq.u64 %p0, %rd5, 0;
  @%p0 bra RUN;
  ld.global.u32 %r0, [%rd5];
  setp.ne.u32 %p0, %r0, 0;
  @%p0 ret;
RUN:
  ld.param.u64 %rd3, [begin];
  ld.param.u64 %rd1, [end];
  ld.param.u64 %rd2, [row_offset];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  cvt.u64.u32 %rd4, %r1;
  mad.wide.u32 %rd0, %r2, %r3, %rd4;
  add.u64 %rd0, %rd0, %rd3;
)",
                      body, "  ret;\n}\n\n");
}

const char kAffinePtx[] = R"(
  setp.ge.u64 %p0, %rd0, %rd1;
  @%p0 ret;
  add.u64 %rd6, %rd0, %rd2;
  cvt.rn.f32.u64 %f8, %rd6;
  mad.lo.u64 %rd7, %rd0, 16, %rd10;
  mad.lo.u64 %rd8, %rd0, 16, %rd12;
  ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd7];
  ld.global.v4.f32 {%f4, %f5, %f6, %f7}, [%rd11];
  fma.rn.f32 %f0, %f0, %f4, %f8;
  fma.rn.f32 %f1, %f1, %f5, %f8;
  fma.rn.f32 %f2, %f2, %f6, %f8;
  fma.rn.f32 %f3, %f3, %f7, %f8;
  st.global.v4.f32 [%rd8], {%f0, %f1, %f2, %f3};
)";
// Each thread computes one column.
const char kColumnPtx[] = R"(
  setp.ge.u64 %p0, %rd4, 4;
  @%p0 ret;
  mov.f32 %s, IDENTITY;
  mov.u64 %rd6, %rd3;
LOOP:
  setp.ge.u64 %p0, %rd6, %rd1;
  @%p0 bra DONE;
  mad.lo.u64 %rd7, %rd6, 4, %rd4;
  mad.lo.u64 %rd7, %rd7, 4, %rd10;
  ld.global.f32 %f0, [%rd7];
  COMBINE
  add.u64 %rd6, %rd6, 1;
  bra LOOP;
DONE:
  mad.lo.u64 %rd8, %rd4, 4, %rd11;
  st.global.f32 [%rd8], %s;
)";
const char kGatherPtx[] = R"(
  setp.ge.u64 %p0, %rd0, %rd1;
  @%p0 ret;
  mad.lo.u64 %rd7, %rd0, 4, %rd10;
  ld.global.s32 %r4, [%rd7];
  mul.wide.s32 %rd8, %r4, 16;
  add.u64 %rd8, %rd8, %rd11;
  ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd8];
  mad.lo.u64 %rd9, %rd0, 16, %rd12;
  st.global.v4.f32 [%rd9], {%f0, %f1, %f2, %f3};
)";
const char kTotalPtx[] = R"(
  setp.ge.u64 %p0, %rd0, %rd1;
  @%p0 ret;
  ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd10];
  add.rn.f32 %f0, %f0, %f1;
  add.rn.f32 %f0, %f0, %f2;
  add.rn.f32 %f0, %f0, %f3;
  st.global.f32 [%rd11], %f0;
)";
const char kUpdatePtx[] = R"(
  setp.ge.u64 %p0, %rd0, %rd1;
  @%p0 ret;
  shl.b64 %rd6, %rd0, 2;
  add.u64 %rd7, %rd10, %rd6;
  add.u64 %rd8, %rd11, %rd6;
  add.u64 %rd9, %rd13, %rd6;
  ld.global.f32 %f0, [%rd7];
  ld.global.f32 %f1, [%rd8];
  ld.global.f32 %f2, [%rd12];
  mul.rn.f32 %f1, %f2, %f1;
  sub.rn.f32 %f0, %f0, %f1;
  st.global.f32 [%rd9], %f0;
)";

// The entry for a group of arrays (GroupedLaunch): a block finds its member, and each thread its element in it.
const char kGroupPtx[] = R"(
.visible .entry update_group(.param .u64 members, .param .u64 blocks, .param .u64 guard)
{
  .reg .b64 %rd<32>;
  .reg .b32 %r<8>;
  .reg .f32 %f<16>;
  .reg .pred %p<4>;
  ld.param.u64 %rd5, [guard];
  setp.eq.u64 %p0, %rd5, 0;
  @%p0 bra RUN;
  ld.global.u32 %r0, [%rd5];
  setp.ne.u32 %p0, %r0, 0;
  @%p0 ret;
RUN:
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  ld.param.u64 %rd1, [blocks];
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd1, %rd1, %rd2;
  ld.global.u32 %r3, [%rd1];
  ld.param.u64 %rd3, [members];
  mul.wide.u32 %rd4, %r3, 48;
  add.u64 %rd3, %rd3, %rd4;
  ld.global.u64 %rd10, [%rd3];
  ld.global.u64 %rd11, [%rd3+8];
  ld.global.u64 %rd12, [%rd3+16];
  ld.global.u64 %rd13, [%rd3+24];
  ld.global.u64 %rd1, [%rd3+32];
  ld.global.u64 %rd6, [%rd3+40];
  cvt.u64.u32 %rd0, %r2;
  sub.u64 %rd0, %rd0, %rd6;
  shl.b64 %rd0, %rd0, 7;
  cvt.u64.u32 %rd4, %r1;
  add.u64 %rd0, %rd0, %rd4;
)";

}  // namespace

ConformanceKernels AddConformanceKernels(ExecutableBuilder& b) {
  ConformanceKernels k;
  k.affine = b.Kernel("affine", 0, format::Domain::kRows);
  k.column_sum = b.Kernel("column_sum", 0, format::Domain::kRows);
  k.column_max = b.Kernel("column_max", 0, format::Domain::kRows);
  k.gather = b.Kernel("gather", 0, format::Domain::kRows);
  k.total = b.Kernel("total", 0, format::Domain::kOnce);
  k.update = b.Kernel("update", 0, format::Domain::kElements);
  return k;
}

std::string ConformanceKernelsIr() {
  return LoopKernel("affine", "16 0 16", kAffineIr) +
         LoopKernel("column_sum", "16 0", absl::StrReplaceAll(kColumnIr, {{"OP", kSumIr}})) +
         LoopKernel("column_max", "16 0", absl::StrReplaceAll(kColumnIr, {{"OP", kMaxIr}})) +
         LoopKernel("gather", "4 0 16", kGatherIr) + LoopKernel("total", "0 0", kTotalIr) +
         LoopKernel("update", "4 4 0 4", kUpdateIr);
}

std::string ConformanceKernelsPtx() {
  return absl::StrCat(
      ".version 6.4\n.target sm_75\n.address_size 64\n\n", Entry("affine", 3, kAffinePtx),
      Entry("column_sum", 2,
            absl::StrReplaceAll(kColumnPtx, {{"IDENTITY", "0f00000000"}, {"COMBINE", "add.rn.f32 %s, %s, %f0;"}})),
      Entry("column_max", 2,
            absl::StrReplaceAll(kColumnPtx, {{"IDENTITY", "0fff800000"}, {"COMBINE", "max.f32 %s, %s, %f0;"}})),
      Entry("gather", 3, kGatherPtx), Entry("total", 2, kTotalPtx), Entry("update", 4, kUpdatePtx), kGroupPtx,
      kUpdatePtx, "  ret;\n}\n");
}

void RegisterConformanceKernels(FakeDriver& driver) {
  RegisterGpuKernel(driver, "affine", 3, [](const GpuKernelCall& call) {
    for (int64_t i = call.begin * 4; i < call.end * 4; ++i) {
      call.args[2][i] = call.args[0][i] * call.args[1][i % 4] + static_cast<float>(i / 4 + call.row_offset);
    }
  });
  RegisterGpuKernel(driver, "column_sum", 2, [](const GpuKernelCall& call) {
    std::fill_n(call.args[1], 4, 0.0f);
    for (int64_t i = call.begin * 4; i < call.end * 4; ++i) call.args[1][i % 4] += call.args[0][i];
  });
  RegisterGpuKernel(driver, "column_max", 2, [](const GpuKernelCall& call) {
    std::fill_n(call.args[1], 4, -__builtin_inff());
    for (int64_t i = call.begin * 4; i < call.end * 4; ++i) {
      call.args[1][i % 4] = std::max(call.args[1][i % 4], call.args[0][i]);
    }
  });
  RegisterGpuKernel(driver, "gather", 3, [](const GpuKernelCall& call) {
    const auto* k = reinterpret_cast<const int32_t*>(call.args[0]);
    for (int64_t i = call.begin; i < call.end; ++i) std::copy_n(call.args[1] + k[i] * 4, 4, call.args[2] + i * 4);
  });
  RegisterGpuKernel(driver, "total", 2, [](const GpuKernelCall& call) {
    for (int64_t i = call.begin; i < call.end; ++i) {
      call.args[1][i] = call.args[0][0] + call.args[0][1] + call.args[0][2] + call.args[0][3];
    }
  });
  RegisterGpuKernel(driver, "update", 4, [](const GpuKernelCall& call) {
    for (int64_t i = call.begin; i < call.end; ++i) call.args[3][i] = call.args[0][i] - *call.args[2] * call.args[1][i];
  });
}

}  // namespace tandem
