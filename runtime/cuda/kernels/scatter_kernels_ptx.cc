// The text of the kernels that sum rows by their indices. They are part of the built-in kernels.
//
// `order` holds positions of indices as 32-bit numbers, sorted by index and then by position.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "runtime/cuda/kernels/builtin_kernels_text.h"

namespace tandem {
namespace {

// Code at the start of sorting kernels. %rd0: the thread's element, which is below `count` (%rd3); %rd4: indices.
const char kElement[] = R"(
  .reg .INDEX %i<8>;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd1, %r0, 256;
  cvt.u64.u32 %rd2, %r2;
  add.u64 %rd0, %rd1, %rd2;
  ld.param.u64 %rd3, [count];
  setp.ge.u64 %p1, %rd0, %rd3;
  @%p1 ret;
  ld.param.u64 %rd4, [indices];
)";

// Returns a kernel in which a block sorts 256 positions: each thread counts how many positions come before its own.
std::string SortChunks() {
  return PtxEntry("td_sort_chunks_INDEX", ".param .u64 indices, .param .u64 order, .param .u64 count",
                  absl::StrCat(kElement, R"(
  ld.param.u64 %rd5, [order];
  add.u64 %rd10, %rd1, 256;
  min.u64 %rd10, %rd10, %rd3;
  mad.lo.u64 %rd6, %rd0, IBYTES, %rd4;
  ld.global.INDEX %i0, [%rd6];
  mov.u64 %rd11, %rd1;
  mov.u64 %rd13, %rd1;
  mad.lo.u64 %rd12, %rd1, IBYTES, %rd4;
NEXT:
  setp.ge.u64 %p1, %rd11, %rd10;
  @%p1 bra STORE;
  ld.global.INDEX %i1, [%rd12];
  setp.lt.INDEX %p2, %i1, %i0;
  setp.eq.INDEX %p3, %i1, %i0;
  setp.lt.u64 %p4, %rd11, %rd0;
  and.pred %p3, %p3, %p4;
  or.pred %p2, %p2, %p3;
  selp.u64 %rd14, 1, 0, %p2;
  add.u64 %rd13, %rd13, %rd14;
  add.u64 %rd11, %rd11, 1;
  add.u64 %rd12, %rd12, IBYTES;
  bra NEXT;
STORE:
  mad.lo.u64 %rd6, %rd13, 4, %rd5;
  cvt.u32.u64 %r5, %rd0;
  st.global.u32 [%rd6], %r5;
  ret;
)"));
}

// Returns a kernel that merges runs of `run` sorted positions into runs of twice the length. A thread finds by
// bisection how many positions of the neighbouring run come before its own. Among equal indices, those of the left run
// come first.
std::string MergeRuns() {
  return PtxEntry("td_merge_runs_INDEX",
                  ".param .u64 indices, .param .u64 from, .param .u64 to, .param .u64 count, .param .u64 run",
                  absl::StrCat(kElement, R"(
  ld.param.u64 %rd5, [from];
  ld.param.u64 %rd6, [to];
  ld.param.u64 %rd7, [run];
  mad.lo.u64 %rd8, %rd0, 4, %rd5;
  ld.global.u32 %r5, [%rd8];
  cvt.u64.u32 %rd9, %r5;
  mad.lo.u64 %rd10, %rd9, IBYTES, %rd4;
  ld.global.INDEX %i0, [%rd10];
  div.u64 %rd11, %rd0, %rd7;
  and.b64 %rd12, %rd11, 1;
  setp.ne.u64 %p5, %rd12, 0;
  xor.b64 %rd13, %rd11, 1;
  mul.lo.u64 %rd13, %rd13, %rd7;
  min.u64 %rd13, %rd13, %rd3;
  add.u64 %rd14, %rd13, %rd7;
  min.u64 %rd14, %rd14, %rd3;
  mov.u64 %rd15, %rd13;
SEARCH:
  setp.ge.u64 %p1, %rd15, %rd14;
  @%p1 bra FOUND;
  add.u64 %rd16, %rd15, %rd14;
  shr.u64 %rd16, %rd16, 1;
  mad.lo.u64 %rd17, %rd16, 4, %rd5;
  ld.global.u32 %r6, [%rd17];
  cvt.u64.u32 %rd18, %r6;
  mad.lo.u64 %rd18, %rd18, IBYTES, %rd4;
  ld.global.INDEX %i1, [%rd18];
  setp.lt.INDEX %p2, %i1, %i0;
  setp.eq.INDEX %p3, %i1, %i0;
  and.pred %p3, %p3, %p5;
  or.pred %p2, %p2, %p3;
  add.u64 %rd19, %rd16, 1;
  selp.u64 %rd15, %rd19, %rd15, %p2;
  selp.u64 %rd14, %rd14, %rd16, %p2;
  bra SEARCH;
FOUND:
  sub.u64 %rd15, %rd15, %rd13;
  mul.lo.u64 %rd12, %rd12, %rd7;
  sub.u64 %rd20, %rd0, %rd12;
  add.u64 %rd20, %rd20, %rd15;
  mad.lo.u64 %rd20, %rd20, 4, %rd6;
  st.global.u32 [%rd20], %r5;
  ret;
)"));
}

// Returns an entry in which a warp computes one row and 32 columns of the table. Items are (row, block of columns),
// with the columns as the inner index. `sum` is PTX that adds all updates of an item to %v0 and then jumps to STORE. It
// finds the operands in %rd4 (updates), %rd5 (indices), %rd6 (count) and %rd7 (width), the lane in %rd20, the row in
// %i4, and its column in %rd12, where %p2 says whether there is one; %rd13 is 0. `more_params` are the parameters
// behind `indices`, and `load` loads them.
std::string TableEntry(const std::string& name, const std::string& more_params, const std::string& load,
                       const std::string& sum) {
  return PtxEntry(name,
                  absl::StrCat(".param .u64 updates, .param .u64 indices, ", more_params,
                               ".param .u64 count, .param .u64 width, .param .u64 items, .param .u64 table, "
                               ".param .u64 column_blocks, .param .u64 guard"),
                  absl::StrCat(R"(
  .reg .TYPE %v<4>;
  .reg .INDEX %i<8>;
  ld.param.u64 %rd2, [guard];
)",
                               kPtxGuard, kPtxGridIndex, load, R"(
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
)",
                                                    sum, R"(
STORE:
  mad.lo.u64 %rd18, %rd10, %rd7, %rd12;
  mad.lo.u64 %rd18, %rd18, BYTES, %rd8;
  @%p2 st.global.TYPE [%rd18], %v0;
)"))));
}

// Returns a kernel in which the warp looks through the indices 128 at a time, and adds the updates of those that equal
// the row, in the order of their positions.
std::string Scatter() {
  // Handles the `j`-th 32 indices of a block of 128: makes a mask of the indices that equal the row, then adds the
  // update of each of them.
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
  return TableEntry("td_scatter_TYPE_INDEX", "", "",
                    absl::StrCat(R"(
SCAN:
  setp.ge.u64 %p3, %rd13, %rd6;
  @%p3 bra STORE;
  add.u64 %rd14, %rd13, %rd20;
)",
                                 group(0), group(1), group(2), group(3), add(0), add(1), add(2), add(3), R"(
  add.u64 %rd13, %rd13, 128;
  bra SCAN;
)"));
}

// Returns a kernel in which the warp finds the row's first position by bisection, and adds the updates up to its last
// position.
std::string ScatterSorted() {
  return TableEntry("td_scatter_sorted_TYPE_INDEX", ".param .u64 order, ", "  ld.param.u64 %rd21, [order];\n", R"(
  mov.u64 %rd14, %rd6;
SEARCH:
  setp.ge.u64 %p3, %rd13, %rd14;
  @%p3 bra ADD;
  add.u64 %rd15, %rd13, %rd14;
  shr.u64 %rd15, %rd15, 1;
  mad.lo.u64 %rd16, %rd15, 4, %rd21;
  ld.global.u32 %r10, [%rd16];
  cvt.u64.u32 %rd17, %r10;
  mad.lo.u64 %rd17, %rd17, IBYTES, %rd5;
  ld.global.INDEX %i0, [%rd17];
  setp.lt.INDEX %p4, %i0, %i4;
  add.u64 %rd16, %rd15, 1;
  selp.u64 %rd13, %rd16, %rd13, %p4;
  selp.u64 %rd14, %rd14, %rd15, %p4;
  bra SEARCH;
ADD:
  setp.ge.u64 %p3, %rd13, %rd6;
  @%p3 bra STORE;
  mad.lo.u64 %rd16, %rd13, 4, %rd21;
  ld.global.u32 %r10, [%rd16];
  cvt.u64.u32 %rd17, %r10;
  mad.lo.u64 %rd18, %rd17, IBYTES, %rd5;
  ld.global.INDEX %i0, [%rd18];
  setp.ne.INDEX %p3, %i0, %i4;
  @%p3 bra STORE;
  mad.lo.u64 %rd17, %rd17, %rd7, %rd12;
  mad.lo.u64 %rd17, %rd17, BYTES, %rd4;
  @%p2 ld.global.TYPE %v1, [%rd17];
  @%p2 add.rn.TYPE %v0, %v0, %v1;
  add.u64 %rd13, %rd13, 1;
  bra ADD;
)");
}

}  // namespace

std::string ScatterKernelsPtx() {
  std::string text;
  for (const char* index : {"s32", "s64"}) {
    const std::string bytes = index == std::string("s32") ? "4" : "8";
    text += absl::StrReplaceAll(SortChunks() + MergeRuns(), {{"IBYTES", bytes}, {"INDEX", index}});
    for (const char* type : {"f32", "f64"}) {
      const bool wide = type == std::string("f64");
      text += absl::StrReplaceAll(Scatter() + ScatterSorted(), {{"IBYTES", bytes},
                                                                {"INDEX", index},
                                                                {"BYTES", wide ? "8" : "4"},
                                                                {"TYPE", type},
                                                                {"ZERO", wide ? "0d0000000000000000" : "0f00000000"}});
    }
  }
  return text;
}

}  // namespace tandem
