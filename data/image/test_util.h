// Test helpers for pictures: reads golden files, and checks the text of statuses.
#ifndef TANDEM_DATA_IMAGE_TEST_UTIL_H_
#define TANDEM_DATA_IMAGE_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "base/env.h"
#include "base/host_tensor.h"
#include "estimator/checkpoint/safetensors.h"

namespace tandem {

// The tensors of testdata/FILE, which a script in that folder has made with TensorFlow.
class Goldens {
 public:
  explicit Goldens(const std::string& file) {
    auto reader = SafetensorsReader::Open(Env::Default(), "data/image/testdata/" + file);
    EXPECT_TRUE(reader.ok()) << reader.status();
    if (reader.ok()) reader_ = *std::move(reader);
  }
  bool ok() const { return reader_ != nullptr; }
  const SafetensorsReader& reader() const { return *reader_; }
  HostTensor Get(const std::string& name) const {
    auto tensor = reader_->Read(name);
    EXPECT_TRUE(tensor.ok()) << tensor.status();
    return tensor.ok() ? *std::move(tensor) : HostTensor();
  }
  std::string Bytes(const std::string& name) const {
    const HostTensor tensor = Get(name);
    return std::string(static_cast<const char*>(tensor.raw()), tensor.byte_size());
  }

 private:
  std::unique_ptr<SafetensorsReader> reader_;
};

inline void ExpectError(const absl::Status& status, absl::StatusCode code, absl::string_view words) {
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), words)) << status << "\nwithout: " << words;
}

}  // namespace tandem

#endif  // TANDEM_DATA_IMAGE_TEST_UTIL_H_
