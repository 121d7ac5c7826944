// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "unit/store_writer/fixture.h"

namespace augur {
namespace {

// What the model knows of a path.
struct Node {
  char type = 'f';  // f, d, l
  std::string text;
  uint32_t mode = 0;
  int64_t mtime_sec = 0;
  uint32_t mtime_nsec = 0;
  bool operator==(const Node&) const = default;
};

using Model = std::map<std::string, Node>;

std::string ParentOf(const std::string& path) {
  const size_t end = path.rfind('/');
  return end == std::string::npos ? "" : path.substr(0, end);
}

// Random generations of a store, each created, replaced, appended to, or begun, dropped and resumed, and compared with
// a std::map that was given the same files. AUGUR_TEST_SEED takes a printed seed back.
class ModelTest : public StoreWriterTest {
 protected:
  uint64_t Below(uint64_t limit) { return random_() % limit; }

  std::string RandomName() {
    static const std::vector<std::string> kNames = {
        "a", "b", "c", "a.b", "a b", "\xff\xfe", "n01440764", "\xe5\x9b\xbe", "ILSVRC2012.JPEG", "\x01"};
    if (Below(20) == 0) return std::string(255, static_cast<char>('p' + Below(5)));
    return kNames[Below(kNames.size())] + (Below(2) == 0 ? std::to_string(Below(30)) : "");
  }

  std::string RandomText() {
    switch (Below(12)) {
      case 0: return "";
      case 1: return "one of a few";
      case 2: return std::string(kBlockBytes, 'B');
      case 3: return std::string(Below(3) * kBlockBytes + Below(kBlockBytes), static_cast<char>('0' + Below(3)));
      default: {
        std::string text(Below(30'000), '\0');
        for (char& c : text) c = static_cast<char>(random_());
        return text;
      }
    }
  }

  Node RandomNode() {
    Node node;
    node.mode = static_cast<uint32_t>(Below(010000));
    node.mtime_sec = static_cast<int64_t>(Below(4'000'000'000)) - 2'000'000'000;
    node.mtime_nsec = static_cast<uint32_t>(Below(1'000'000'000));
    const uint64_t kind = Below(10);
    node.type = kind == 0 ? 'd' : kind == 1 ? 'l' : 'f';
    if (node.type == 'f') node.text = RandomText();
    if (node.type == 'l') node.text = "../" + RandomName();
    return node;
  }

  // A path whose parents are folders of the model, which are made, and that is not there itself.
  std::string FreePath(Model& model) {
    for (;;) {
      std::string path;
      bool good = true;
      for (uint64_t depth = Below(4); good && depth > 0; --depth) {
        path += (path.empty() ? "" : "/") + RandomName();
        const auto found = model.find(path);
        good = found == model.end() || found->second.type == 'd';
      }
      path += (path.empty() ? "" : "/") + RandomName();
      if (good && !model.contains(path)) return path;
    }
  }

  void Add(StoreWriter& writer, const std::string& path, const Node& node) {
    const Attributes attributes{.mode = node.mode, .mtime_sec = node.mtime_sec, .mtime_nsec = node.mtime_nsec};
    Status status;
    if (node.type == 'd') {
      status = writer.AddDirectory(path, attributes);
    } else if (node.type == 'l') {
      status = writer.AddSymlink(path, attributes, node.text);
    } else if (const auto resumed = writer.Resume(path, attributes, node.text.size()); resumed.ok() && *resumed) {
      return;
    } else if (Below(3) == 0) {
      status = writer.BeginFile(path);
      std::string_view rest = node.text;
      if (status.ok() && Below(4) == 0) {  // begin, think better of it, begin again
        ASSERT_TRUE(writer.Write(Bytes(rest)).ok());
        ASSERT_TRUE(writer.AbandonFile().ok());
        status = writer.BeginFile(path);
      }
      while (status.ok() && !rest.empty()) {
        const size_t part = std::min<size_t>(rest.size(), 1 + Below(700'000));
        status = writer.Write(Bytes(rest.substr(0, part)));
        rest.remove_prefix(part);
      }
      if (status.ok()) status = writer.EndFile(attributes, {});
    } else {
      status = writer.AddFile(path, attributes, {}, Bytes(node.text));
    }
    ASSERT_TRUE(status.ok()) << status.text();
  }

  // Adds paths to the model and says which, in the order in which they are to be added. Every folder is said.
  std::vector<std::string> Grow(Model& model, uint64_t count) {
    std::vector<std::string> paths;
    for (uint64_t i = 0; i < count; ++i) {
      const std::string path = FreePath(model);
      std::vector<std::string> missing;
      for (std::string parent = ParentOf(path); !parent.empty() && !model.contains(parent); parent = ParentOf(parent)) {
        missing.push_back(parent);
      }
      for (const std::string& parent : missing) {
        Node folder = RandomNode();
        folder.type = 'd';
        folder.text.clear();
        model[parent] = folder;
        paths.push_back(parent);
      }
      model[path] = RandomNode();
      paths.push_back(path);
    }
    if (Below(2) == 0) std::shuffle(paths.begin(), paths.end(), random_);
    return paths;
  }

  void Walk(const Store& store, const Entry& folder, const std::string& prefix, Model& found) {
    for (uint64_t i = 0; i < folder.size; ++i) {
      const auto child = store.Child(folder, i);
      ASSERT_TRUE(child.ok()) << child.status().text();
      const std::string path = prefix + std::string(child->name);
      Node node{.type = 'f',
                .text = {},
                .mode = child->mode & 07777,
                .mtime_sec = child->mtime_sec,
                .mtime_nsec = child->mtime_nsec};
      switch (child->type) {
        case EntryType::kDirectory:
          node.type = 'd';
          Walk(store, *child, path + "/", found);
          break;
        case EntryType::kSymlink:
          node.type = 'l';
          node.text = *store.LinkTarget(*child);
          break;
        case EntryType::kFile: node.text = ReadFile(store, path); break;
      }
      found[path] = node;
    }
  }

  void Compare(const Model& model) {
    ASSERT_EQ(Defects(), "");
    const auto store = Store::Open(store_);
    ASSERT_TRUE(store.ok()) << store.status().text();
    Model found;
    Walk(**store, *(*store)->Get(0), "", found);
    ASSERT_EQ(found.size(), model.size());
    for (const auto& [path, node] : model) {
      ASSERT_TRUE(found.contains(path)) << path;
      ASSERT_TRUE(found[path] == node) << path;
    }
  }

  std::mt19937_64 random_;
};

TEST_F(ModelTest, EveryGenerationIsTheTreeThatWasGiven) {
  const char* given = std::getenv("AUGUR_TEST_SEED");  // NOLINT(concurrency-mt-unsafe): no thread changes it
  const uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  SCOPED_TRACE("AUGUR_TEST_SEED=" + std::to_string(seed));
  random_.seed(seed);
  Model model;
  for (int generation = 0; generation < 12; ++generation) {
    SCOPED_TRACE("generation " + std::to_string(generation));
    WriterOptions options{
        .mode = generation == 0 ? WriteMode::kCreate : (Below(3) == 0 ? WriteMode::kReplace : WriteMode::kAppend),
        .on_duplicate = OnDuplicate::kLast,
        .shard_bytes = 1 + Below(4'000'000)};
    if (options.mode != WriteMode::kAppend) model.clear();
    std::vector<std::string> paths = Grow(model, Below(120));
    if (options.mode == WriteMode::kAppend) {  // and some files of the old tree anew
      for (auto& [path, node] : model) {
        if (node.type != 'f' || Below(10) != 0 || std::find(paths.begin(), paths.end(), path) != paths.end()) continue;
        node = RandomNode();
        if (node.type == 'd') node.type = 'f';
        paths.push_back(path);
      }
    }
    if (Below(2) == 0) {  // a writer that stops on the way
      const auto writer = Begin(options);
      ASSERT_NE(writer, nullptr);
      const size_t stop = Below(paths.size() + 1);
      for (size_t i = 0; i < stop; ++i) ASSERT_NO_FATAL_FAILURE(Add(*writer, paths[i], model[paths[i]]));
      options.resume = Below(4) != 0;
    }
    auto writer = Begin(options);
    ASSERT_NE(writer, nullptr);
    for (const std::string& path : paths) ASSERT_NO_FATAL_FAILURE(Add(*writer, path, model[path]));
    const auto summary = writer->Commit();
    ASSERT_TRUE(summary.ok()) << summary.status().text();
    ASSERT_NO_FATAL_FAILURE(Compare(model));
    writer.reset();  // which holds the lock
    if (Below(4) != 0) continue;
    ASSERT_TRUE(RemoveOldGenerations(store_).ok());
    ASSERT_NO_FATAL_FAILURE(Compare(model));
  }
}

}  // namespace
}  // namespace augur
