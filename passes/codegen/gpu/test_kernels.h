// Kernels of every skeleton, for tests of the code that GPUs get.
#ifndef TANDEM_PASSES_CODEGEN_GPU_TEST_KERNELS_H_
#define TANDEM_PASSES_CODEGEN_GPU_TEST_KERNELS_H_

#include <string>
#include <vector>

namespace tandem {

struct GpuTestCase {
  std::string name;
  std::string text;
  std::vector<std::string> has, has_not;  // text that the PTX must and must not contain
};

inline const GpuTestCase kGpuTestCases[] = {
    {"Relu",
     R"(
    func.func private @k(%x: tensor<?x3x37xf32>) -> tensor<?x3x37xf32> attributes {exec.kernel = #exec.kernel_kind<loop>} {
      %0 = td.relu %x : tensor<?x3x37xf32>
      return %0 : tensor<?x3x37xf32>
    })",
     {"ld.global.nc.v4.f32", "st.global.v4.f32"},
     {"bar.sync", "shfl.sync", "div.s64", "rem.s64", "ld.f32", "st.f32"}},
    {"BiasRelu",
     R"(
    func.func private @k(%x: tensor<?x26x26x32xf32>, %b: tensor<32xf32>) -> tensor<?x26x26x32xf32>
        attributes {exec.kernel = #exec.kernel_kind<loop>} {
      %0 = td.broadcast %b dims [3] : tensor<32xf32> -> tensor<?x26x26x32xf32>
      %1 = td.add %x, %0 : tensor<?x26x26x32xf32>
      %2 = td.relu %1 : tensor<?x26x26x32xf32>
      return %2 : tensor<?x26x26x32xf32>
    })",
     {"ld.global.nc.v4.f32", "st.global.v4.f32"},
     {"bar.sync", "div.", "rem."}},
    {"InPlace",
     R"(
    func.func private @k(%x: tensor<?xf32>, %g: tensor<?xf32>, %lr: tensor<f32>) -> tensor<?xf32>
        attributes {exec.kernel = #exec.kernel_kind<flat>, exec.alias = array<i64: 0>} {
      %0 = td.apply_sgd %x, %g, %lr : (tensor<?xf32>, tensor<?xf32>, tensor<f32>) -> (tensor<?xf32>)
      return %0 : tensor<?xf32>
    })",
     {"ld.global.nc.v4.f32", "ld.global.v4.f32", "st.global.v4.f32", "fma.rn.f32"},
     {}},
    {"Mask",
     R"(
    func.func private @k(%x: tensor<?x64xbf16>, %y: tensor<?x64xf32>) -> (tensor<?x64xbf16>, tensor<?x64xi1>)
        attributes {exec.kernel = #exec.kernel_kind<loop>} {
      %0 = td.cast %y : tensor<?x64xf32> -> tensor<?x64xbf16>
      %1 = td.mul %x, %0 : tensor<?x64xbf16>
      %2 = td.compare gt, %y, %y : tensor<?x64xf32> -> tensor<?x64xi1>
      return %1, %2 : tensor<?x64xbf16>, tensor<?x64xi1>
    })",
     {"ld.global.nc.v4", "st.global.v4"},
     {}},
    {"Gelu",
     R"(
    func.func private @k(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {exec.kernel = #exec.kernel_kind<loop>} {
      %0 = td.exp %x : tensor<?x64xf32>
      %1 = td.tanh %0 : tensor<?x64xf32>
      %2 = td.log %0 : tensor<?x64xf32>
      %3 = td.pow %1, %2 : tensor<?x64xf32>
      return %3 : tensor<?x64xf32>
    })",
     {"ld.global.nc.v4.f32", "cvt.rmi.f32.f32", "st.global.v4.f32"},
     {}},
    {"MaxPoolGrad",
     R"(
    func.func private @k(%x: tensor<?x24x24x32xf32>, %dy: tensor<?x12x12x32xf32>) -> tensor<?x24x24x32xf32>
        attributes {exec.kernel = #exec.kernel_kind<loop>} {
      %0 = td.max_pool_grad %x, %dy window [2, 2] strides [2, 2] low [0, 0] high [0, 0]
        : tensor<?x24x24x32xf32>, tensor<?x12x12x32xf32> -> tensor<?x24x24x32xf32>
      return %0 : tensor<?x24x24x32xf32>
    })",
     {"ld.global.nc.v4.f32", "st.global.v4.f32"},
     {}},
    {"SoftmaxByWarps",
     R"(
    func.func private @k(%x: tensor<?x512xf32>) -> tensor<?x512xf32> attributes {exec.kernel = #exec.kernel_kind<row>} {
      %m = td.reduce max, %x axes [1] : tensor<?x512xf32> -> tensor<?xf32>
      %mb = td.broadcast %m dims [0] : tensor<?xf32> -> tensor<?x512xf32>
      %d = td.sub %x, %mb : tensor<?x512xf32>
      %e = td.exp %d : tensor<?x512xf32>
      %s = td.reduce sum, %e axes [1] : tensor<?x512xf32> -> tensor<?xf32>
      %sb = td.broadcast %s dims [0] : tensor<?xf32> -> tensor<?x512xf32>
      %p = td.div %e, %sb : tensor<?x512xf32>
      return %p : tensor<?x512xf32>
    })",
     {"shfl.sync.bfly.b32", "ld.global.nc.v4.f32", "st.global.v4.f32"},
     {"bar.sync", "atom"}},
    // A part of a row, the keys of a query, is in the registers of a warp: read once, and nothing waits for other
    // warps.
    {"AttentionWeights",
     R"(
    func.func private @k(%x: tensor<?x4x16x128xbf16>) -> tensor<?x4x16x128xbf16> attributes {exec.kernel = #exec.kernel_kind<row>} {
      %f = td.cast %x : tensor<?x4x16x128xbf16> -> tensor<?x4x16x128xf32>
      %m = td.reduce max, %f axes [3] : tensor<?x4x16x128xf32> -> tensor<?x4x16xf32>
      %mb = td.broadcast %m dims [0, 1, 2] : tensor<?x4x16xf32> -> tensor<?x4x16x128xf32>
      %d = td.sub %f, %mb : tensor<?x4x16x128xf32>
      %e = td.exp %d : tensor<?x4x16x128xf32>
      %s = td.reduce sum, %e axes [3] : tensor<?x4x16x128xf32> -> tensor<?x4x16xf32>
      %sb = td.broadcast %s dims [0, 1, 2] : tensor<?x4x16xf32> -> tensor<?x4x16x128xf32>
      %p = td.div %e, %sb : tensor<?x4x16x128xf32>
      %r = td.cast %p : tensor<?x4x16x128xf32> -> tensor<?x4x16x128xbf16>
      return %r : tensor<?x4x16x128xbf16>
    })",
     {"shfl.sync.bfly.b32", "ld.global.nc.v4.u16", "st.global.v4.b16"},
     {"bar.sync", "bar.warp.sync", ".shared", "atom"}},
    // Teams of eight threads, and a part of 20 that they do not share out evenly.
    {"SmallParts",
     R"(
    func.func private @k(%x: tensor<?x4x16x20xf32>) -> tensor<?x4x16x20xf32> attributes {exec.kernel = #exec.kernel_kind<row>} {
      %s = td.reduce sum, %x axes [3] : tensor<?x4x16x20xf32> -> tensor<?x4x16xf32>
      %sb = td.broadcast %s dims [0, 1, 2] : tensor<?x4x16xf32> -> tensor<?x4x16x20xf32>
      %y = td.sub %x, %sb : tensor<?x4x16x20xf32>
      return %y : tensor<?x4x16x20xf32>
    })",
     {"shfl.sync.bfly.b32", "ld.global.nc.v4.f32", "st.global.v4.f32"},
     {"bar.sync", "bar.warp.sync", ".shared", "atom"}},
    // Fewer parts than a block has warps, with results of both sizes.
    {"NormOfParts",
     R"(
    func.func private @k(%x: tensor<?x3x256xf32>, %g: tensor<256xf32>) -> (tensor<?x3x256xf32>, tensor<?x3xf32>, tensor<?x3xf32>)
        attributes {exec.kernel = #exec.kernel_kind<row>} {
      %q = td.mul %x, %x : tensor<?x3x256xf32>
      %s = td.reduce sum, %q axes [2] : tensor<?x3x256xf32> -> tensor<?x3xf32>
      %r = td.rsqrt %s : tensor<?x3xf32>
      %rb = td.broadcast %r dims [0, 1] : tensor<?x3xf32> -> tensor<?x3x256xf32>
      %gb = td.broadcast %g dims [2] : tensor<256xf32> -> tensor<?x3x256xf32>
      %y = td.mul %x, %rb : tensor<?x3x256xf32>
      %z = td.mul %y, %gb : tensor<?x3x256xf32>
      return %z, %s, %r : tensor<?x3x256xf32>, tensor<?x3xf32>, tensor<?x3xf32>
    })",
     {"shfl.sync.bfly.b32", "ld.global.nc.v4.f32", "st.global.v4.f32"},
     {"bar.sync", "bar.warp.sync", ".shared", "atom"}},
    {"NormByBlocks",
     R"(
    func.func private @k(%x: tensor<?x4096xf32>) -> tensor<?x4096xf32> attributes {exec.kernel = #exec.kernel_kind<row>} {
      %q = td.mul %x, %x : tensor<?x4096xf32>
      %s = td.reduce sum, %q axes [1] : tensor<?x4096xf32> -> tensor<?xf32>
      %r = td.rsqrt %s : tensor<?xf32>
      %rb = td.broadcast %r dims [0] : tensor<?xf32> -> tensor<?x4096xf32>
      %y = td.mul %x, %rb : tensor<?x4096xf32>
      return %y : tensor<?x4096xf32>
    })",
     {"shfl.sync.bfly.b32", "bar.sync", ".shared", "ld.global.nc.v4.f32", "st.global.v4.f32"},
     {"bar.warp.sync", "atom"}},
    {"ArgMaxByWarps",
     R"(
    func.func private @k(%x: tensor<?x512xf32>) -> tensor<?xi64> attributes {exec.kernel = #exec.kernel_kind<row>} {
      %i = td.argmax %x axis 1 : tensor<?x512xf32> -> tensor<?xi64>
      return %i : tensor<?xi64>
    })",
     {"ld.global.nc.v4.f32", "shfl.sync.bfly.b32", "max.s64", "st.global.u64"},
     {"bar.sync", "atom"}},
    {"ArgMaxByBlocks",
     R"(
    func.func private @k(%x: tensor<?x50000xbf16>) -> tensor<?xi64> attributes {exec.kernel = #exec.kernel_kind<row>} {
      %i = td.argmax %x axis 1 : tensor<?x50000xbf16> -> tensor<?xi64>
      return %i : tensor<?xi64>
    })",
     {"ld.global.nc.v4", "shfl.sync.bfly.b32", "bar.sync", ".shared", "max.s64"},
     {"atom"}},
    {"ArgMaxOfColumns",
     R"(
    func.func private @k(%x: tensor<?x50x32xf32>) -> tensor<?x32xi64> attributes {exec.kernel = #exec.kernel_kind<row>} {
      %i = td.argmax %x axis 1 : tensor<?x50x32xf32> -> tensor<?x32xi64>
      return %i : tensor<?x32xi64>
    })",
     {"ld.global.nc.f32"},
     {"shfl.sync", "atom"}},
    {"BiasGradient",
     R"(
    func.func private @k(%y: tensor<?x26x26x32xf32>, %dy: tensor<?x26x26x32xf32>)
        -> (tensor<32xf32>, tensor<?x26x26x32xf32>) attributes {exec.kernel = #exec.kernel_kind<col>} {
      %r = td.relu %y : tensor<?x26x26x32xf32>
      %m = td.mul %dy, %r : tensor<?x26x26x32xf32>
      %s = td.reduce sum, %m axes [0, 1, 2] : tensor<?x26x26x32xf32> -> tensor<32xf32>
      return %s, %m : tensor<32xf32>, tensor<?x26x26x32xf32>
    })",
     {"bar.sync", ".shared", "ld.global.nc.v4.f32", "st.global.v4.f32"},
     {"atom.global.add", "red.global"}},
    // Dy is neither stored nor read: its sums follow from what the pooling's gradient reads, and x is of one channel.
    {"FilterGradient",
     R"(
    func.func private @k(%i: tensor<?x13x13x32xui8>, %dp: tensor<?x13x13x32xf32>, %x: tensor<?x28x28x1xf32>)
        -> (tensor<32xf32>, tensor<3x3x1x32xf32>) attributes {exec.kernel = #exec.kernel_kind<col>} {
      %dy = td.max_pool_argmax_grad %i, %dp size [26, 26] window [2, 2] strides [2, 2] low [0, 0] high [0, 0]
        : tensor<?x13x13x32xui8>, tensor<?x13x13x32xf32> -> tensor<?x26x26x32xf32>
      %db = td.reduce sum, %dy axes [0, 1, 2] : tensor<?x26x26x32xf32> -> tensor<32xf32>
      %dk = exec.contraction conv2d_filter_grad %dy, %x by few_taps size [3, 3] strides [1, 1] low [0, 0] high [0, 0]
        : (tensor<?x26x26x32xf32>, tensor<?x28x28x1xf32>) -> tensor<3x3x1x32xf32>
      return %db, %dk : tensor<32xf32>, tensor<3x3x1x32xf32>
    })",
     {"ld.global.nc.v4.f32", "ld.global.nc.u32", "ld.global.nc.f32", "fma.rn.f32", "atom.global.inc.u32"},
     {"atom.global.add", "red.global"}},
    // A picture: a thread has two columns, with 27 sums each.
    {"FilterGradientOfPictures",
     R"(
    func.func private @k(%dy: tensor<?x32x32x64xbf16>, %x: tensor<?x32x32x3xf32>) -> tensor<3x3x3x64xf32>
        attributes {exec.kernel = #exec.kernel_kind<col>} {
      %d = td.cast %dy : tensor<?x32x32x64xbf16> -> tensor<?x32x32x64xf32>
      %dk = exec.contraction conv2d_filter_grad %d, %x by few_taps size [3, 3] strides [1, 1] low [1, 1] high [1, 1]
        : (tensor<?x32x32x64xf32>, tensor<?x32x32x3xf32>) -> tensor<3x3x3x64xf32>
      return %dk : tensor<3x3x3x64xf32>
    })",
     {"ld.global.nc.u32", "ld.global.nc.f32", "fma.rn.f32", "atom.global.inc.u32"},
     {"atom.global.add", "red.global"}},
    {"Moments",
     R"(
    func.func private @k(%x: tensor<?x14x14x96xbf16>, %n: tensor<f32>, %gamma: tensor<96xf32>)
        -> (tensor<96xf32>, tensor<96xf32>, tensor<96xf32>) attributes {exec.kernel = #exec.kernel_kind<col>} {
      %0 = td.cast %x : tensor<?x14x14x96xbf16> -> tensor<?x14x14x96xf32>
      %s = td.reduce sum, %0 axes [0, 1, 2] : tensor<?x14x14x96xf32> -> tensor<96xf32>
      %nb = td.broadcast %n dims [] : tensor<f32> -> tensor<96xf32>
      %m = td.div %s, %nb : tensor<96xf32>
      %g = td.mul %m, %gamma : tensor<96xf32>
      return %s, %m, %g : tensor<96xf32>, tensor<96xf32>, tensor<96xf32>
    })",
     {"bar.sync", "membar.gl", "atom.global.inc.u32", "div.rn.f32"},
     {"atom.global.add", "red.global"}},
    // The table of doubles lies behind one of 255 numbers, which is no multiple of eight bytes.
    {"SumsOfTwoTypes",
     R"(
    func.func private @k(%x: tensor<?x14x14x5xf32>) -> (tensor<5xf32>, tensor<5xf64>) attributes {exec.kernel = #exec.kernel_kind<col>} {
      %s = td.reduce sum, %x axes [0, 1, 2] : tensor<?x14x14x5xf32> -> tensor<5xf32>
      %d = td.cast %x : tensor<?x14x14x5xf32> -> tensor<?x14x14x5xf64>
      %t = td.reduce sum, %d axes [0, 1, 2] : tensor<?x14x14x5xf64> -> tensor<5xf64>
      return %s, %t : tensor<5xf32>, tensor<5xf64>
    })",
     {"+1024], %fd"},
     {"+1020], %fd"}},
    {"CrossEntropy",
     R"(
    func.func private @k(%x: tensor<?x10xf32>, %label: tensor<?xi64>) -> (tensor<?x10xf32>, tensor<f32>, tensor<10xf32>)
        attributes {exec.kernel = #exec.kernel_kind<col>} {
      %hot = td.one_hot %label : tensor<?xi64> -> tensor<?x10xf32>
      %m = td.reduce max, %x axes [1] : tensor<?x10xf32> -> tensor<?xf32>
      %mb = td.broadcast %m dims [0] : tensor<?xf32> -> tensor<?x10xf32>
      %d = td.sub %x, %mb : tensor<?x10xf32>
      %e = td.exp %d : tensor<?x10xf32>
      %s = td.reduce sum, %e axes [1] : tensor<?x10xf32> -> tensor<?xf32>
      %log = td.log %s : tensor<?xf32>
      %dh = td.mul %d, %hot : tensor<?x10xf32>
      %at = td.reduce sum, %dh axes [1] : tensor<?x10xf32> -> tensor<?xf32>
      %loss = td.sub %log, %at : tensor<?xf32>
      %sb = td.broadcast %s dims [0] : tensor<?xf32> -> tensor<?x10xf32>
      %p = td.div %e, %sb : tensor<?x10xf32>
      %g = td.sub %p, %hot : tensor<?x10xf32>
      %total = td.reduce sum, %loss axes [0] : tensor<?xf32> -> tensor<f32>
      %db = td.reduce sum, %g axes [0] : tensor<?x10xf32> -> tensor<10xf32>
      return %g, %total, %db : tensor<?x10xf32>, tensor<f32>, tensor<10xf32>
    })",
     {"shfl.sync.bfly.b32", "bar.warp.sync"},
     {"atom.global.add", "red.global"}},
    {"GradientNorm",
     R"(
    func.func private @k(%x: tensor<770x64xf32>) -> tensor<f32> attributes {exec.kernel = #exec.kernel_kind<once>} {
      %0 = td.mul %x, %x : tensor<770x64xf32>
      %1 = td.reduce sum, %0 axes [0, 1] : tensor<770x64xf32> -> tensor<f32>
      return %1 : tensor<f32>
    })",
     {"shfl.sync.bfly.b32", "bar.sync", "atom.global.inc.u32", "ld.global.nc.v4.f32"},
     {"atom.global.add", "red.global"}},
    {"BiasCorrection",
     R"(
    func.func private @k(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> attributes {exec.kernel = #exec.kernel_kind<once>} {
      %0 = td.pow %x, %y : tensor<f32>
      %1 = td.sqrt %0 : tensor<f32>
      return %1 : tensor<f32>
    })",
     {"fma.rn.f64", "sqrt.rn.f32"},
     {}},
    {"Random",
     R"(
    func.func private @k(%seed: tensor<i64>, %step: tensor<i64>) -> tensor<?x64xf32> attributes {exec.kernel = #exec.kernel_kind<loop>} {
      %0 = td.random_uniform %seed, %step key 77 shape [-1, 64] -> tensor<?x64xf32>
      return %0 : tensor<?x64xf32>
    })",
     {"mul.wide.u32", "st.global.v4.f32"},
     {}},
};

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_GPU_TEST_KERNELS_H_
