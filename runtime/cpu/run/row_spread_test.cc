#include "runtime/cpu/run/row_spread.h"

#include "gtest/gtest.h"

namespace tandem {
namespace {

constexpr RowSpread kCompiled{.rows_per_lane = 8, .microbatch_rows = 8};

TEST(SpreadRowsTest, AFullStepIsDealtOutAsCompiled) {
  for (int threads : {1, 2, 16}) EXPECT_EQ(SpreadRows(64, 8, threads, kCompiled), kCompiled);
  EXPECT_EQ(SpreadRows(0, 8, 2, kCompiled), kCompiled);
}

TEST(SpreadRowsTest, FewRowsUseAllThreads) {
  EXPECT_EQ(SpreadRows(2, 8, 2, kCompiled).rows_per_lane, 1);
  EXPECT_EQ(SpreadRows(8, 8, 8, kCompiled).rows_per_lane, 1);
  EXPECT_EQ(SpreadRows(8, 8, 2, kCompiled).rows_per_lane, 4);
  EXPECT_EQ(SpreadRows(16, 8, 4, kCompiled).rows_per_lane, 4);
}

TEST(SpreadRowsTest, OneThreadGetsLargeMicrobatches) {
  EXPECT_EQ(SpreadRows(7, 8, 1, kCompiled).microbatch_rows, 8) << "one call of 8 rows, not calls of 4 and 3";
  EXPECT_EQ(SpreadRows(5, 8, 1, kCompiled).microbatch_rows, 4) << "calls of 4 rows and of one";
  EXPECT_EQ(SpreadRows(32, 8, 1, kCompiled).microbatch_rows, 8);
}

TEST(SpreadRowsTest, AllRowsHaveALane) {
  for (int64_t most : {1, 3, 4, 5, 8}) {
    for (int64_t microbatches : {1, 2}) {
      const RowSpread compiled{.rows_per_lane = most * microbatches, .microbatch_rows = most};
      for (int lanes : {1, 3, 8}) {
        for (int threads : {1, 2, 3, 16}) {
          for (int64_t rows = 1; rows <= lanes * compiled.rows_per_lane; ++rows) {
            const RowSpread spread = SpreadRows(rows, lanes, threads, compiled);
            EXPECT_GE(spread.rows_per_lane * lanes, rows);
            EXPECT_GE(spread.microbatch_rows, 1);
            EXPECT_LE(spread.microbatch_rows, most);
            EXPECT_EQ(spread.rows_per_lane % spread.microbatch_rows, 0);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tandem
