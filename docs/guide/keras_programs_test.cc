// Compiles the programs of keras_programs.md.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/env.h"
#include "base/status_macros.h"
#include "data/dataset.h"
#include "data/fashion_mnist.h"
#include "data/image/decode_resize.h"
#include "estimator/estimator.h"
#include "estimator/keras/applications.h"
#include "estimator/keras/model.h"
#include "frontends/activations.h"
#include "frontends/keras/layers.h"
#include "frontends/keras/optimizers.h"
#include "frontends/keras/utils.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

#include "docs/guide/keras_programs_test_blocks.inc"

// Their data are not here, nor two GPUs as a rule.
TEST(KerasProgramsTest, EndWithErrors) {
  EXPECT_FALSE(TrainOct().ok());
  EXPECT_THAT(TrainMnistTwice().message(), testing::HasSubstr("mnist/"));
  const auto same = [](const Element& example) -> absl::StatusOr<Element> { return example; };
  EXPECT_FALSE(TrainFromRecords({"no_such_file.gz"}, same).ok());
  (void)&TrainFashion;  // it is compiled; its data may be here
}

}  // namespace
}  // namespace tandem
