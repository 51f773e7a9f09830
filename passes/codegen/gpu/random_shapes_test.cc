// Kernels of random shapes and reductions, walked on the CPU, against the reference semantics of their ops.
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "passes/codegen/kernel_test_util.h"

namespace tandem {
namespace {

constexpr int64_t kMaxElements = 12000;  // of a row

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  int Below(int n) { return static_cast<int>(random_() % n); }
  std::mt19937& random() { return random_; }

  // What rounding may make of a row: its sums are of numbers around 1 and -1, and their results' differences count.
  double RowTolerance() const { return 1e-5 + 1e-5 * std::sqrt(static_cast<double>(row_size_)); }

  // Dimensions without the batch.
  std::vector<int64_t> RandomShape() {
    static constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 8, 12, 17, 32, 33, 64, 130, 260, 1028};
    std::vector<int64_t> shape;
    int64_t size = 1;
    for (int rank = 1 + Below(3); rank > 0; --rank) {
      const int64_t d = kSizes[Below(std::size(kSizes))];
      if (size * d > kMaxElements) continue;
      shape.push_back(d);
      size *= d;
    }
    if (shape.empty()) shape.push_back(7);
    row_size_ = std::max(size, int64_t{7});
    return shape;
  }

  static std::string Type(const std::vector<int64_t>& shape, bool batched) {
    std::string text = "tensor<";
    if (batched) absl::StrAppend(&text, "?x");
    for (int64_t d : shape) absl::StrAppend(&text, d, "x");
    return text + "f32>";
  }

  // Some of the numbers from `first` to `last`, at least one; the batch, where there is one, is number 0.
  std::vector<int> RandomAxes(int first, int last) {
    std::vector<int> axes;
    for (int d = first; d <= last; ++d) {
      if (Below(2) == 0) axes.push_back(d);
    }
    if (axes.empty()) axes.push_back(first + Below(last - first + 1));
    return axes;
  }

  // "%name = td.reduce ..." of `from`; `type` gets the result's type and `kept` the dimensions it has left.
  std::string Reduce(const std::string& name, const std::string& kind, const std::string& from,
                     const std::vector<int64_t>& shape, bool batched, const std::vector<int>& axes, std::string* type,
                     std::vector<int>* kept) {
    std::vector<int64_t> left;
    bool keeps_batch = false;
    kept->clear();
    for (int d = 0; d < static_cast<int>(shape.size()) + batched; ++d) {
      if (std::find(axes.begin(), axes.end(), d) != axes.end()) continue;
      kept->push_back(d);
      if (batched && d == 0) {
        keeps_batch = true;
      } else {
        left.push_back(shape[d - batched]);
      }
    }
    *type = Type(left, keeps_batch);
    return absl::StrCat(name, " = td.reduce ", kind, ", ", from, " axes [", absl::StrJoin(axes, ", "),
                        "] : ", Type(shape, batched), " -> ", *type, "\n");
  }

  std::string Kind() { return Below(3) == 0 ? "max" : "sum"; }

  // Sums over the batch and other dimensions, what they are sums of, and what is computed from them.
  std::string Columns() {
    const std::vector<int64_t> shape = RandomShape();
    const std::string t = Type(shape, true);
    std::string body = "%r = td.relu %x : " + t + "\n%m = td.mul %r, %y : " + t + "\n", results, types, operands;
    const bool plain = Below(2) == 0;
    for (int i = 0; i <= Below(3); ++i) {
      std::vector<int> axes = RandomAxes(0, static_cast<int>(shape.size()));
      if (axes[0] != 0) axes.insert(axes.begin(), 0);
      if (Below(2) == 0) axes = {0};
      std::string type;
      std::vector<int> kept;
      absl::StrAppend(&body,
                      Reduce(absl::StrCat("%s", i), Kind(), Below(2) ? "%m" : "%x", shape, true, axes, &type, &kept));
      absl::StrAppend(&results, i ? ", " : "", "%s", i);
      absl::StrAppend(&types, i ? ", " : "", type);
      if (Below(2) == 0) continue;
      absl::StrAppend(&operands, ", %p", i, ": ", type);
      absl::StrAppend(&body, "%e", i, " = td.mul %s", i, ", %p", i, " : ", type, "\n%f", i, " = td.tanh %e", i, " : ",
                      type, "\n%g", i, " = td.sub %f", i, ", %s", i, " : ", type, "\n");
      absl::StrAppend(&results, ", %f", i, ", %g", i);
      absl::StrAppend(&types, ", ", type, ", ", type);
    }
    if (plain) {
      results += ", %m";
      types += ", " + t;
    }
    return absl::StrCat("func.func private @k(%x: ", t, ", %y: ", t, operands, ") -> (", types,
                        ") attributes {exec.kernel = #exec.kernel_kind<col>} {\n", body, "return ", results, " : ",
                        types, "\n}");
  }

  // A reduction of each row, back into the row, and a reduction of that.
  std::string Rows(bool batched) {
    const std::vector<int64_t> shape = RandomShape();
    const std::string t = Type(shape, batched);
    std::string type, type_2;
    std::vector<int> kept, kept_2;
    const int first = batched ? 1 : 0, last = static_cast<int>(shape.size()) - 1 + first;
    const std::vector<int> axes = RandomAxes(first, last);
    std::string body = Reduce("%s", Kind(), "%x", shape, batched, axes, &type, &kept);
    absl::StrAppend(&body, "%b = td.broadcast %s dims [", absl::StrJoin(kept, ", "), "] : ", type, " -> ", t, "\n",
                    "%d = td.sub %x, %b : ", t, "\n%e = td.tanh %d : ", t, "\n");
    absl::StrAppend(
        &body, Reduce("%s2", "sum", "%e", shape, batched, Below(2) ? axes : RandomAxes(first, last), &type_2, &kept_2));
    absl::StrAppend(&body, "%b2 = td.broadcast %s2 dims [", absl::StrJoin(kept_2, ", "), "] : ", type_2, " -> ", t,
                    "\n%f = td.mul %e, %b2 : ", t, "\n");
    const bool both = Below(2) == 0;
    return absl::StrCat("func.func private @k(%x: ", t, ") -> (", t, both ? ", " + type : "",
                        ") attributes {exec.kernel = #exec.kernel_kind<", batched ? "row" : "once", ">} {\n", body,
                        "return %f", both ? ", %s" : "", " : ", t, both ? ", " + type : "", "\n}");
  }

  // Sums over the batch of what is multiplied by tensors that have some of the dimensions.
  std::string MaskedColumns() {
    static constexpr int64_t kSizes[] = {2, 3, 4, 6, 10, 20, 30, 50, 63};
    const int64_t a = kSizes[Below(std::size(kSizes))], b = kSizes[Below(std::size(kSizes))];
    row_size_ = a * b;
    const std::string t = Type({a, b}, true), m = Type({a}, true), v = Type({b}, true), w = Type({b}, false);
    return absl::StrCat(
        "func.func private @k(%x: ", t, ", %m: ", m, ", %v: ", v, ", %w: ", w, ") -> (", Type({a, b}, false), ", ", t,
        ") attributes {exec.kernel = #exec.kernel_kind<col>} {\n", "%mb = td.broadcast %m dims [0, 1] : ", m, " -> ", t,
        "\n%vb = td.broadcast %v dims [0, 2] : ", v, " -> ", t, "\n%wb = td.broadcast %w dims [2] : ", w, " -> ", t,
        "\n%p = td.mul %x, %mb : ", t, "\n%q = td.add %p, %vb : ", t, "\n%r = td.mul %q, %wb : ", t,
        "\n%s = td.reduce sum, %r axes [0] : ", t, " -> ", Type({a, b}, false),
        "\nreturn %s, %r : ", Type({a, b}, false), ", ", t, "\n}");
  }

  // Of two tensors, the rows of one of which may be so long that blocks share them.
  std::string Elements() {
    static constexpr int64_t kSizes[] = {1024, 1025, 1295, 1575, 1999, 2046, 2047, 2048, 4095, 8191};
    const int64_t a = kSizes[Below(std::size(kSizes))], b = 1 + Below(16);
    const std::string t = Type({a}, true), u = Type({b}, true);
    return absl::StrCat("func.func private @k(%x: ", t, ", %y: ", u, ") -> (", t, ", ", u,
                        ") attributes {exec.kernel = #exec.kernel_kind<loop>} {\n%0 = td.neg %x : ", t,
                        "\n%1 = td.neg %y : ", u, "\nreturn %0, %1 : ", t, ", ", u, "\n}");
  }

 private:
  std::mt19937 random_;
  int64_t row_size_ = 1;
};

class RandomShapesTest : public testing::TestWithParam<int> {};

TEST_P(RandomShapesTest, MatchReference) {
  Generator g(GetParam());
  const int form = GetParam() < 60 ? GetParam() % 3 : 3 + GetParam() % 2;
  const std::string text = form == 0   ? g.Columns()
                           : form == 3 ? g.MaskedColumns()
                           : form == 4 ? g.Elements()
                                       : g.Rows(/*batched=*/form == 1);
  SCOPED_TRACE(text);
  auto kernel = TestKernel::Create(text, "gpu");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  for (int64_t batch : {1, 7, 40}) {
    auto error = (*kernel)->Error((*kernel)->RandomOperands(batch, g.random()), batch);
    ASSERT_TRUE(error.ok()) << error.status();
    EXPECT_LE(*error, form == 0 || form == 3 ? 1e-4 : g.RowTolerance()) << "batch " << batch;
    if (form == 2) break;  // no batch
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomShapesTest, testing::Range(0, 100));

}  // namespace
}  // namespace tandem
