// SPDX-License-Identifier: Apache-2.0
#include "archives/archive_info.h"

#include <algorithm>
#include <numeric>

#include "archives/archive_names.h"
#include "archives/json_text.h"

namespace augur {
namespace {

using nlohmann::ordered_json;

constexpr const char* kTimmInfo = "_info.json";
constexpr const char* kTfdsInfo = "dataset_info.json";
constexpr const char* kTfdsFeatures = "features.json";
constexpr const char* kTfdsLabels = "label.labels.txt";
constexpr const char* kTfdsVersion = "1.0.0";
constexpr std::string_view kTfdsTrain = "train";

bool IsTfds(const ViewSpec& spec) {
  return spec.kind == ViewKind::kTfrecord && spec.archive.keys == ExampleKeys::kTfds;
}

uint64_t SamplesOf(const ArchiveSplit& split) {
  return std::accumulate(split.sample_counts.begin(), split.sample_counts.end(), uint64_t{0});
}

std::string TimmInfoText(const std::string& name, const std::vector<ArchiveSplit>& splits) {
  ordered_json json;
  json["name"] = name;
  json["splits"] = ordered_json::object();
  for (const ArchiveSplit& split : splits) {
    json["splits"][split.name] = {
        {"name", split.name},
        {"num_samples", SamplesOf(split)},
        {"filenames", split.files},
        {"shard_lengths", split.sample_counts},
    };
  }
  return JsonText(json);
}

// Whether TFDS takes it as the name of a split. Its own name for all splits is no split.
bool IsTfdsSplit(const ArchiveSplit& split) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  return split.name != kRootArchiveName && split.name.find_first_not_of(kLetters) == std::string::npos;
}

// The splits of TFDS: the images of the whole store, where these are one data set, then those of folders.
std::vector<ArchiveSplit> TfdsSplits(const std::vector<ArchiveSplit>& splits) {
  std::vector<ArchiveSplit> found;
  for (const ArchiveSplit& split : splits) {
    if (!split.is_whole && !IsTfdsSplit(split)) continue;
    found.push_back(split);
    if (split.is_whole) found.back().name = kTfdsTrain;
  }
  return found;
}

std::string TfdsInfoText(const std::string& name, const std::vector<ArchiveSplit>& splits) {
  ordered_json json;
  json["name"] = name;
  json["version"] = kTfdsVersion;
  json["fileFormat"] = "tfrecord";
  json["supervisedKeys"] = {{"tuple", {{"items", {{{"featureKey", "image"}}, {{"featureKey", "label"}}}}}}};
  json["splits"] = ordered_json::array();
  for (const ArchiveSplit& split : splits) {
    std::vector<std::string> lengths;
    lengths.reserve(split.sample_counts.size());
    for (const uint32_t count : split.sample_counts) lengths.push_back(std::to_string(count));
    const std::string in_name = split.is_whole ? std::string(kRootArchiveName) : "{SPLIT}";
    json["splits"].push_back({
        {"name", split.name},
        {"filepathTemplate", "{DATASET}-" + in_name + ".{FILEFORMAT}-{SHARD_X_OF_Y}"},
        {"shardLengths", lengths},
        {"numBytes", std::to_string(split.bytes)},
    });
  }
  return JsonText(json);
}

std::string TfdsFeaturesText(size_t class_count) {
  const auto class_of = [](const std::string& file, const std::string& name) {
    return "tensorflow_datasets.core.features." + file + "." + name;
  };
  ordered_json features;
  features["file_name"] = {{"pythonClassName", class_of("text_feature", "Text")}, {"text", ordered_json::object()}};
  features["image"] = {{"pythonClassName", class_of("image_feature", "Image")},
                       {"image", {{"dtype", "uint8"}, {"shape", {{"dimensions", {"-1", "-1", "3"}}}}}}};
  features["label"] = {{"pythonClassName", class_of("class_label_feature", "ClassLabel")},
                       {"classLabel", {{"numClasses", std::to_string(class_count)}}}};
  return JsonText(
      {{"pythonClassName", class_of("features_dict", "FeaturesDict")}, {"featuresDict", {{"features", features}}}});
}

// A name a line.
std::string TfdsLabelsText(const std::vector<std::string>& classes) {
  std::string text;
  for (std::string name : classes) {
    std::ranges::replace(name, '\n', ' ');
    text += name + "\n";
  }
  return text;
}

// TFDS has one list of classes for all splits: that of `train`, or of the first split.
std::vector<std::string> TfdsClasses(const std::vector<ArchiveSplit>& splits) {
  const auto train = std::ranges::find(splits, kTfdsTrain, &ArchiveSplit::name);
  if (train != splits.end()) return train->classes;
  return splits.empty() ? std::vector<std::string>() : splits.front().classes;
}

}  // namespace

std::vector<std::string> ArchiveInfoNames(const ViewSpec& spec) {
  if (spec.kind == ViewKind::kTar) return {kTimmInfo};
  if (IsTfds(spec)) return {kTfdsInfo, kTfdsFeatures, kTfdsLabels, kTfdsVersion, spec.archive.name};
  return {};
}

bool IsArchiveInfoLink(const ViewSpec& spec, size_t number) {
  constexpr size_t kFirstLink = 3;
  return IsTfds(spec) && number >= kFirstLink;
}

std::vector<ArchiveInfoFile> MakeArchiveInfo(const ViewSpec& spec, const std::string& name,
                                             const std::vector<ArchiveSplit>& splits) {
  std::vector<std::string> texts;
  if (IsTfds(spec)) {
    const std::vector<ArchiveSplit> of_tfds = TfdsSplits(splits);
    const std::vector<std::string> classes = TfdsClasses(of_tfds);
    texts = {TfdsInfoText(spec.archive.name, of_tfds), TfdsFeaturesText(classes.size()), TfdsLabelsText(classes)};
  } else {
    texts = {TimmInfoText(name, splits)};
  }
  const std::vector<std::string> names = ArchiveInfoNames(spec);
  std::vector<ArchiveInfoFile> files;
  files.reserve(names.size());
  for (size_t number = 0; number < names.size(); ++number) {
    const bool is_link = IsArchiveInfoLink(spec, number);
    files.push_back({.name = names[number],
                     .text = is_link ? std::string(kArchiveInfoLinkTarget) : texts[number],
                     .is_link = is_link});
  }
  return files;
}

}  // namespace augur
