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
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tandem/base/env.h"
#include "tandem/base/status_macros.h"
#include "tandem/data/dataset.h"
#include "tandem/data/fashion_mnist.h"
#include "tandem/data/image/decode_resize.h"
#include "tandem/estimator/estimator.h"
#include "tandem/estimator/keras/applications.h"
#include "tandem/estimator/keras/model.h"
#include "tandem/frontends/activations.h"
#include "tandem/frontends/keras/layers.h"
#include "tandem/frontends/keras/optimizers.h"
#include "tandem/frontends/keras/utils.h"

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
