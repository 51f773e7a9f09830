#include "tests/oracle/cases.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace tandem::oracle {
namespace {

constexpr Precision kPrecisions[] = {Precision::kFloat32, Precision::kStrictFloat32};

// What schedules, options and clipping by hand are tried on.
bool MeetsOtherOptimizers(const Model& model) {
  return model.name == "dense" || model.name == "batch_norm" || model.name == "convnet";
}

template <typename T>
absl::StatusOr<const T*> ByName(const std::vector<T>& all, absl::string_view what, absl::string_view name) {
  std::vector<std::string> names;
  for (const T& one : all) {
    if (one.name == name) return &one;
    names.push_back(one.name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("there is no ", what, " \"", name, "\" but ", absl::StrJoin(names, ", ")));
}

}  // namespace

const std::vector<Place>& Places() {
  static const auto* places = new std::vector<Place>{
      {"1", 1, 6, {6}},
      {"1_uneven", 1, 6, {5}},
      {"1_in_microbatches", 1, 7, {5}, 1, 3},
      {"2", 2, 5, {5, 5}},
      {"2_uneven", 2, 5, {5, 2}},
      {"2_empty", 2, 5, {3, 0}},
      {"2_in_microbatches", 2, 7, {7, 4}, 2, 3},
      {"4", 4, 4, {4, 4, 4, 4}},
      {"4_uneven", 4, 4, {4, 4, 4, 1}},
      {"4_empty", 4, 4, {4, 2, 0, 0}},
  };
  return *places;
}

std::string Case::Id() const {
  return absl::StrJoin({model->name, optimizer->name, clip->name, place->name, std::string(Name(precision))}, "/");
}

std::string Case::ProgramId() const {
  return absl::StrJoin(
      {model->name, optimizer->name, clip->name, std::string(Name(precision)),
       absl::StrCat(place->devices, " ", place->batch, " ", place->lanes, " ", place->microbatch_rows)},
      "/");
}

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  auto add = [&](const Model& model, const OptimizerCase& optimizer, const ClipCase& clip) {
    for (Precision precision : kPrecisions) {
      for (const Place& place : Places()) cases.push_back({&model, &optimizer, &clip, &place, precision});
    }
  };
  for (const Model& model : Models()) {
    for (const OptimizerCase& optimizer : OptimizerCases()) {
      if (!optimizer.main && !MeetsOtherOptimizers(model)) continue;
      for (const ClipCase& clip : ClipCases()) {
        if (optimizer.main || optimizer.clips || clip.name == ClipCases()[0].name) add(model, optimizer, clip);
      }
    }
  }
  return cases;
}

std::vector<Case> SampledCases(uint64_t seed, int per_model) {
  std::mt19937_64 random(seed);
  std::vector<const OptimizerCase*> main, other;
  for (const OptimizerCase& o : OptimizerCases()) (o.main ? main : other).push_back(&o);
  std::vector<const Place*> places;
  for (const Place& place : Places()) places.push_back(&place);
  std::vector<Case> cases;
  auto add = [&](const Model& model, const OptimizerCase* optimizer, const Place* place, int i) {
    // Other optimizers clip by hand if at all.
    const ClipCase& clip = ClipCases()[optimizer->main ? i % ClipCases().size() : 0];
    cases.push_back({&model, optimizer, &clip, place, kPrecisions[random() % std::size(kPrecisions)]});
  };
  for (const Model& model : Models()) {
    // Orders of their own, gone through side by side: after as many cases as there are of them each one had its turn.
    std::shuffle(main.begin(), main.end(), random);
    std::shuffle(places.begin(), places.end(), random);
    const int first = static_cast<int>(random() % ClipCases().size());
    for (int i = 0; i < per_model; ++i) {
      add(model, main[i % main.size()], places[i % places.size()], first + i);
    }
  }
  for (const OptimizerCase* optimizer : other) {
    for (const Model& model : Models()) {
      if (MeetsOtherOptimizers(model) && random() % 3 != 0) {
        add(model, optimizer, places[random() % places.size()], 0);
      }
    }
  }
  return cases;
}

absl::StatusOr<Case> CaseFromId(absl::string_view id) {
  const std::vector<absl::string_view> parts = absl::StrSplit(id, '/');
  if (parts.size() != 5) {
    return absl::InvalidArgumentError(
        absl::StrCat("a case is MODEL/OPTIMIZER/CLIPPING/PLACE/PRECISION, got \"", id, "\""));
  }
  Case c;
  TD_ASSIGN_OR_RETURN(c.model, ByName(Models(), "model", parts[0]));
  TD_ASSIGN_OR_RETURN(c.optimizer, ByName(OptimizerCases(), "optimizer", parts[1]));
  TD_ASSIGN_OR_RETURN(c.clip, ByName(ClipCases(), "way of clipping", parts[2]));
  TD_ASSIGN_OR_RETURN(c.place, ByName(Places(), "place", parts[3]));
  TD_ASSIGN_OR_RETURN(c.precision, PrecisionFromName(parts[4]));
  return c;
}

}  // namespace tandem::oracle
