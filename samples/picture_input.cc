#include "samples/picture_input.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "tandem/base/env.h"
#include "tandem/base/status_macros.h"
#include "tandem/data/dataset.h"
#include "tandem/data/image/decode_resize.h"
#include "tandem/data/list_files.h"

namespace tandem {
namespace {

constexpr int kHeldOut = 10;  // one of this many pictures of a class is a test picture

struct Found {
  std::string folder, file;
};

// Returns all pictures dir/FOLDER/FILE, sorted by folder and file.
absl::StatusOr<std::vector<Found>> Find(const std::string& dir) {
  if (!Env::Default()->Exists(dir)) return absl::NotFoundError(absl::StrCat(dir, ": there is no such folder"));
  std::vector<Found> found;
  absl::Status first;
  for (const char* ending : {"*.jpeg", "*.jpg", "*.png", "*.JPEG", "*.JPG", "*.PNG"}) {
    const absl::StatusOr<std::vector<std::string>> files = MatchFiles(absl::StrCat(dir, "/*/", ending));
    if (absl::IsNotFound(files.status())) {
      if (first.ok()) first = files.status();
      continue;
    }
    TD_RETURN_IF_ERROR(files.status());
    for (const std::string& file : *files) {
      const std::string folder = file.substr(0, file.rfind('/'));
      found.push_back({folder.substr(folder.rfind('/') + 1), file});
    }
  }
  if (found.empty()) {
    return absl::NotFoundError(
        absl::StrCat(dir, ": no folder in it has pictures, *.jpeg, *.jpg or *.png; ", first.message()));
  }
  std::sort(found.begin(), found.end(),
            [](const Found& a, const Found& b) { return std::tie(a.folder, a.file) < std::tie(b.folder, b.file); });
  return found;
}

void Add(const Found& picture, int32_t label, PictureFiles& to) {
  to.files.push_back(picture.file);
  to.labels.push_back(label);
}

void ToCentred(float* pixels, int64_t n) {
  for (int64_t i = 0; i < n; ++i) pixels[i] = pixels[i] / 127.5f - 1.0f;
}

// Converts `n` values of RGB pixels to BGR, and subtracts ImageNet's mean of each channel.
void ToCaffe(float* pixels, int64_t n) {
  constexpr float kMeans[] = {103.939f, 116.779f, 123.68f};
  for (int64_t i = 0; i < n; i += 3) {
    std::swap(pixels[i], pixels[i + 2]);
    for (int c = 0; c < 3; ++c) pixels[i + c] -= kMeans[c];
  }
}

absl::Status Load(const std::string& file, PicturePixels pixels, const ComponentBuffer& out) {
  TD_ASSIGN_OR_RETURN(const std::string bytes, Env::Default()->ReadFile(file));
  TD_RETURN_IF_ERROR(DecodeAndResizeInto(bytes, out, {.name = file}));
  (pixels == PicturePixels::kCentred ? ToCentred : ToCaffe)(out.data<float>(), out.num_elements());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PictureFolders> FindPictures(const std::string& dir) {
  const bool divided = Env::Default()->Exists(JoinPath(dir, "train"));
  TD_ASSIGN_OR_RETURN(const std::vector<Found> found, Find(divided ? JoinPath(dir, "train") : dir));
  PictureFolders result;
  for (const Found& picture : found) {
    if (result.classes.empty() || result.classes.back() != picture.folder) result.classes.push_back(picture.folder);
  }
  if (result.classes.size() < 2) {
    return absl::InvalidArgumentError(absl::StrCat(dir, ": all pictures are in one folder, \"", result.classes[0],
                                                   "\"; make a folder for each class"));
  }
  const auto label_of = [&](const std::string& folder) {
    return std::lower_bound(result.classes.begin(), result.classes.end(), folder) - result.classes.begin();
  };
  std::vector<int64_t> of_class(result.classes.size());
  for (const Found& picture : found) {
    const int32_t label = label_of(picture.folder);
    const bool test = !divided && ++of_class[label] % kHeldOut == 0;
    Add(picture, label, test ? result.test : result.train);
  }
  if (!divided) {
    if (!result.test.files.empty()) return result;
    return absl::InvalidArgumentError(absl::StrCat(
        dir, ": every tenth picture of a class is for testing, and no class has ten; add more, or divide them into ",
        "folders train and test"));
  }
  if (!Env::Default()->Exists(JoinPath(dir, "test"))) {
    return absl::NotFoundError(absl::StrCat(dir, ": there is a folder train, and none with the name test beside it"));
  }
  TD_ASSIGN_OR_RETURN(const std::vector<Found> tests, Find(JoinPath(dir, "test")));
  for (const Found& picture : tests) {
    const int32_t label = label_of(picture.folder);
    if (label == static_cast<int32_t>(result.classes.size()) || result.classes[label] != picture.folder) {
      return absl::InvalidArgumentError(absl::StrCat(picture.file, ": there is no class \"", picture.folder, "\" in ",
                                                     dir, "/train, but ", absl::StrJoin(result.classes, ", ")));
    }
    Add(picture, label, result.test);
  }
  return result;
}

InputFn PictureInputFn(PictureFiles pictures, const PictureInputOptions& options) {
  return [pictures = std::move(pictures), options](const InputContext&) -> absl::StatusOr<Dataset> {
    const int64_t count = pictures.files.size();
    HostTensor labels(DType::kInt32, {count});
    TD_RETURN_IF_ERROR(labels.status());
    std::copy(pictures.labels.begin(), pictures.labels.end(), labels.data<int32_t>());
    Dataset files = Dataset::FromTensorSlices(
        {{"file", HostTensor::FromStrings({count}, pictures.files)}, {"label", std::move(labels)}});
    if (options.training) files = files.Shuffle(std::max<int64_t>(count, 1), {.seed = options.seed}).Repeat();
    const auto load = [options](const Element& in, absl::Span<const ComponentBuffer> out) -> absl::Status {
      *out[1].data<int32_t>() = in.Get<int32_t>("label");
      return Load(in.Get<std::string>("file"), options.pixels, out[0]);
    };
    return files
        .MapInto(load,
                 {.num_parallel_calls = kAuto,
                  .spec = {{"image", DType::kFloat32, {options.size, options.size, 3}}, {"label", DType::kInt32, {}}}})
        .Batch(options.batch_size)
        .Prefetch();
  };
}

}  // namespace tandem
