// SPDX-License-Identifier: Apache-2.0
#include "views/view_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "views/spec_words.h"

namespace augur {
namespace {

using testing::HasSubstr;

std::string Canonical(std::string_view text) {
  const Result<ViewSpec> spec = ParseViewSpec(text);
  return spec.ok() ? CanonicalSpec(*spec) : "error: " + spec.status().text();
}

TEST(ViewSpec, SaysWhatItMeans) {
  const Result<ViewSpec> npy =
      ParseViewSpec("npy+size=256+crop=224+layout=chw+dtype=f32+mean=0.485_0.456_0.406+std=0.229_0.224_0.225");
  ASSERT_TRUE(npy.ok()) << npy.status().text();
  EXPECT_EQ(npy->kind, ViewKind::kNpy);
  EXPECT_EQ(npy->size, (ResizeTarget{.width = 256, .height = 256, .fit = Fit::kShort}));
  EXPECT_EQ(npy->crop, 224U);
  EXPECT_EQ(npy->filter, ResizeFilter::kBilinear);
  EXPECT_EQ(npy->passes, PassOrder::kPillow12);
  EXPECT_EQ(npy->array, (ArrayFormat{.layout = ArrayLayout::kChw,
                                     .type = ArrayType::kF32,
                                     .mean = {0.485F, 0.456F, 0.406F},
                                     .std = {0.229F, 0.224F, 0.225F}}));
  const Result<ViewSpec> pixels =
      ParseViewSpec("as=ppm+pixels+size=640x480+fit=long+filter=lanczos+passes=pillow13+fast+all+names=own+tolerant");
  ASSERT_TRUE(pixels.ok()) << pixels.status().text();
  EXPECT_EQ(pixels->kind, ViewKind::kPixels);
  EXPECT_EQ(pixels->size, (ResizeTarget{.width = 640, .height = 480, .fit = Fit::kLong}));
  EXPECT_EQ(pixels->filter, ResizeFilter::kLanczos);
  EXPECT_EQ(pixels->passes, PassOrder::kPillow13);
  EXPECT_EQ(pixels->as, PixelContainer::kPpm);
  EXPECT_TRUE(pixels->fast && pixels->all && pixels->own_names && pixels->tolerant);
  const Result<ViewSpec> plain = ParseViewSpec("npy");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(*plain, ViewSpec());
}

TEST(ViewSpec, OneViewHasOneSpelling) {
  const std::pair<const char*, const char*> spellings[] = {
      {"npy", "npy"},
      {"npy+layout=hwc+dtype=u8", "npy"},
      {"pt", "pt"},
      {"pt+layout=chw+dtype=f32", "pt+dtype=f32"},
      {"layout=hwc+pt", "pt+layout=hwc"},
      {"item=tensor+pt", "pt"},
      {"item=pair+dtype=f32+pt", "pt+dtype=f32+item=pair"},
      {"pt+std=1_1_1+dtype=f32+item=dict", "pt+dtype=f32+item=dict"},
      {"crop=224+size=256+npy", "npy+size=256+crop=224"},
      {"npy+size=0256", "npy+size=256"},
      {"npy+size=256+fit=short", "npy+size=256"},
      {"npy+size=256x256+fit=short", "npy+size=256"},
      {"npy+size=256+fit=squash", "npy+size=256x256"},
      {"npy+size=256x256+fit=squash", "npy+size=256x256"},
      {"npy+size=256x256+fit=long", "npy+size=256+fit=long"},
      {"npy+size=640x480+fit=squash", "npy+size=640x480"},
      {"npy+size=640x480+fit=short", "npy+size=640x480+fit=short"},
      {"npy+size=8+filter=bilinear+passes=pillow12", "npy+size=8"},
      {"npy+dtype=f32+mean=0.50_0.5_00.5+std=1.0_1_1", "npy+dtype=f32+mean=0.5_0.5_0.5"},
      {"npy+dtype=f32+mean=0_0.0_0", "npy+dtype=f32"},
      {"npy+dtype=f32+mean=0.10000000149011612_0_0", "npy+dtype=f32+mean=0.1_0_0"},
      {"pixels+as=png", "pixels"},
      {"names=own+all+as=bmp+tolerant+crop=7+fast+passes=pillow13+filter=bicubic+size=9+pixels",
       "pixels+size=9+filter=bicubic+passes=pillow13+fast+crop=7+tolerant+as=bmp+all+names=own"},
  };
  for (const auto& [typed, canonical] : spellings) {
    EXPECT_EQ(Canonical(typed), canonical) << typed;
    EXPECT_EQ(Canonical(canonical), canonical);
  }
}

TEST(ViewSpec, ErrorsNameTheWordTheCauseAndTheForm) {
  struct Case {
    const char* typed;
    const char* word;
    const char* cause;
    const char* form;
  };
  const Case cases[] = {
      {"", "view ''", "an empty word", "joined by one +"},
      {"npy+", "view 'npy+'", "an empty word", "joined by one +"},
      {"npy++crop=2", "view 'npy++crop=2'", "an empty word", "joined by one +"},
      {"size=3", "", "names no kind", "npy, pt, pixels, tar, tfrecord, mds, h5 or zarr"},
      {"npy+pixels", "pixels: ", "a second kind", "npy, pt, pixels, tar, tfrecord, mds, h5 or zarr"},
      {"npy+npy", "npy: ", "a second kind", "npy, pt, pixels, tar, tfrecord, mds, h5 or zarr"},
      {"npy+siz=3", "siz=3: ", "not a word of a view", "size=N|WxH"},
      {"npy+NPY", "NPY: ", "not a word of a view", "npy, pt, pixels, tar, tfrecord, mds, h5 or zarr"},
      {"npy+\x01\n", "\\x01\\x0A: ", "not a word of a view", "npy, pt, pixels, tar, tfrecord, mds, h5 or zarr"},
      {"npy+size", "size: ", "its value is missing", "size=N|WxH"},
      {"npy+size=3+fast=1", "fast=1: ", "it has no value", "accepted: fast"},
      {"npy+size=3+size=3", "size=3: ", "given twice", "once"},
      {"npy+size=", "size=: ", "from 1 to 65535", "size=N|WxH"},
      {"npy+size=0", "size=0: ", "from 1 to 65535", "size=N|WxH"},
      {"npy+size=65536", "size=65536: ", "from 1 to 65535", "size=N|WxH"},
      {"npy+size=-1", "size=-1: ", "from 1 to 65535", "size=N|WxH"},
      {"npy+size=3x", "size=3x: ", "from 1 to 65535", "size=N|WxH"},
      {"npy+size=3x4x5", "size=3x4x5: ", "from 1 to 65535", "size=N|WxH"},
      {"npy+size=99999999999999999999", "size=9", "from 1 to 65535", "size=N|WxH"},
      {"npy+size=60000x60000", "size=60000x60000: ", "more than 178956970 pixels", "size=N|WxH"},
      {"npy+size=20000", "size=20000: ", "more than 178956970 pixels", "size=N|WxH"},
      {"npy+crop=0", "crop=0: ", "from 1 to 65535", "crop=N"},
      {"npy+crop=13378", "crop=13378: ", "more than 178956970 pixels", "crop=N"},
      {"npy+fit=short", "fit=short: ", "there is no size", "fit=short|long|squash"},
      {"npy+filter=bicubic", "filter=bicubic: ", "there is no size", "filter=bilinear|bicubic|lanczos"},
      {"npy+passes=pillow12", "passes=pillow12: ", "there is no size", "passes=pillow12|pillow13"},
      {"npy+fast", "fast: ", "there is no size", "fast"},
      {"npy+size=3+fit=wide", "fit=wide: ", "not one of its values", "fit=short|long|squash"},
      {"npy+size=3+filter=box", "filter=box: ", "not one of its values", "filter=bilinear|bicubic|lanczos"},
      {"npy+dtype=f16", "dtype=f16: ", "not one of its values", "dtype=u8|f32"},
      {"npy+mean=0_0_0", "mean=0_0_0: ", "there is no dtype=f32", "mean=A_B_C"},
      {"npy+dtype=u8+std=1_1_1", "std=1_1_1: ", "there is no dtype=f32", "std=A_B_C"},
      {"npy+dtype=f32+mean=0.5", "mean=0.5: ", "not three numbers", "mean=A_B_C"},
      {"npy+dtype=f32+mean=0_0_0_0", "mean=0_0_0_0: ", "not three decimal numbers", "mean=A_B_C"},
      {"npy+dtype=f32+mean=0_0_", "mean=0_0_: ", "not three decimal numbers", "mean=A_B_C"},
      {"npy+dtype=f32+mean=1e-3_0_0", "mean=1e-3_0_0: ", "not three decimal numbers", "mean=A_B_C"},
      {"npy+dtype=f32+mean=123.675_0_0", "mean=123.675_0_0: ", "scale of ToTensor", "from 0 to 1"},
      {"npy+dtype=f32+std=0_1_1", "std=0_1_1: ", "it divides", "above 0"},
      {"npy+item=pair", "item=pair: ", "only for pt", "item=tensor|pair|dict"},
      {"zarr+crop=8+item=dict", "item=dict: ", "only for pt", "item=tensor|pair|dict"},
      {"pt+item=", "item=: ", "not one of its values", "item=tensor|pair|dict"},
      {"pt+item=tuple", "item=tuple: ", "not one of its values", "item=tensor|pair|dict"},
      {"pt+item", "item: ", "its value is missing", "item=tensor|pair|dict"},
      {"pt+item=pair+item=pair", "item=pair: ", "given twice", "once"},
      {"npy+as=png", "as=png: ", "only for pixels", "as=png|ppm|bmp"},
      {"npy+all", "all: ", "only for pixels", "all"},
      {"npy+names=own", "names=own: ", "only for pixels", "names=own"},
      {"pixels+names=old", "names=old: ", "not one of its values", "names=own"},
      {"pixels+layout=hwc", "layout=hwc: ", "only for npy, pt, h5 or zarr", "layout=hwc|chw"},
      {"pixels+dtype=u8", "dtype=u8: ", "only for npy, pt, h5 or zarr", "dtype=u8|f32"},
      {"tar+size=3", "size=3: ", "only for npy, pt, pixels, h5 or zarr", "size=N|WxH"},
      {"npy+shards=3", "shards=3: ", "only for tar, tfrecord or mds", "shards=S"},
      {"tar+shards=0", "shards=0: ", "from 1 to 99999", "shards=S"},
      {"tar+shards=100000", "shards=100000: ", "from 1 to 99999", "shards=S"},
      {"tar+shards=2+shard=1M", "shard=1M: ", "shards says already", "shard=SIZE"},
      {"tar+shard=0", "shard=0: ", "a size above 0", "shard=SIZE"},
      {"tar+shard=1X", "shard=1X: ", "a size above 0", "shard=SIZE"},
      {"tfrecord+shard=1M", "shard=1M: ", "only for tar", "shard=SIZE"},
      {"tar+keys=tfds", "keys=tfds: ", "only for tfrecord", "keys=imagenet|tfds"},
      {"tfrecord+keys=coco", "keys=coco: ", "not one of its values", "keys=imagenet|tfds"},
      {"tfrecord+keys=tfds", "keys=tfds: ", "there is no name=N", "keys=imagenet|tfds"},
      {"tfrecord+name=", "name=: ", "letters, digits", "name=N"},
      {"tfrecord+name=../x", "name=../x: ", "letters, digits", "name=N"},
      {"tfrecord+base=2", "base=2: ", "not one of its values", "base=0|1"},
      {"tar+shuffle=-1", "shuffle=-1: ", "from 0 to 4294967295", "shuffle=SEED"},
      {"tar+shuffle=4294967296", "shuffle=4294967296: ", "from 0 to 4294967295", "shuffle=SEED"},
  };
  for (const Case& one : cases) {
    const Result<ViewSpec> spec = ParseViewSpec(one.typed);
    ASSERT_FALSE(spec.ok()) << one.typed;
    EXPECT_EQ(spec.status().code(), Code::kInvalid);
    EXPECT_THAT(spec.status().text(),
                testing::AllOf(testing::StartsWith("view '"), HasSubstr(one.word), HasSubstr(one.cause),
                               HasSubstr("accepted: "), HasSubstr(one.form)))
        << one.typed;
  }
}

TEST(ViewSpec, ArraysOfOneFileHaveOneShape) {
  EXPECT_EQ(Canonical("size=224x224+h5"), "h5+size=224x224");
  EXPECT_EQ(Canonical("h5+size=256+crop=224+encoded"), "h5+size=256+crop=224+encoded");
  EXPECT_EQ(Canonical("h5+encoded"), "h5+encoded");
  EXPECT_EQ(Canonical("chunk=1+format=3+zarr+crop=8+layout=hwc"), "zarr+crop=8");
  EXPECT_EQ(Canonical("zarr+crop=8+chunk=16+format=2"), "zarr+crop=8+format=2+chunk=16");
  EXPECT_EQ(Canonical("shard=064+chunk=8+format=3+zarr+crop=8"), "zarr+crop=8+shard=64+chunk=8");
  EXPECT_EQ(Canonical("zarr+crop=8+shard=1"), "zarr+crop=8+shard=1");
  EXPECT_EQ(Canonical("mds+shuffle=1+shards=2"), "mds+shards=2+shuffle=1");
  EXPECT_TRUE(ParseViewSpec("h5+crop=8")->has_stacked_arrays());
  EXPECT_FALSE(ParseViewSpec("h5+encoded")->has_stacked_arrays());
  EXPECT_TRUE(ParseViewSpec("mds")->has_archive_folders());
  for (const auto& [typed, cause] : {std::pair("h5", "size is missing"),
                                     std::pair("zarr+dtype=f32", "size is missing"),
                                     std::pair("h5+size=256", "crop is missing"),
                                     std::pair("zarr+size=2x3+fit=long", "crop is missing"),
                                     std::pair("h5+encoded+layout=chw", "size is missing"),
                                     std::pair("zarr+crop=8+chunk=0", "1 to 65536"),
                                     std::pair("zarr+crop=8+format=4", "not one of its values"),
                                     std::pair("h5+crop=8+chunk=2", "only for zarr"),
                                     std::pair("zarr+crop=8+shard=0", "1 to 65536"),
                                     std::pair("zarr+crop=8+shard=65537", "1 to 65536"),
                                     std::pair("zarr+crop=8+shard=64M", "1 to 65536"),
                                     std::pair("zarr+crop=8+shard=", "1 to 65536"),
                                     std::pair("zarr+crop=8+shard=-1", "1 to 65536"),
                                     std::pair("zarr+crop=8+shard", "its value is missing"),
                                     std::pair("zarr+crop=8+shard=10+chunk=4", "no multiple of chunk"),
                                     std::pair("zarr+crop=8+shard=2+chunk=4", "no multiple of chunk"),
                                     std::pair("zarr+crop=8+shard=4+format=2", "leave format=2 out"),
                                     std::pair("h5+crop=8+shard=2", "only for tar or zarr"),
                                     std::pair("zarr+shard=4", "size is missing"),
                                     std::pair("mds+size=8x8", "only for npy"),
                                     std::pair("tar+encoded", "only for h5")}) {
    const Result<ViewSpec> spec = ParseViewSpec(typed);
    ASSERT_FALSE(spec.ok()) << typed;
    EXPECT_THAT(spec.status().text(), HasSubstr(cause)) << typed;
  }
}

TEST(ViewSpec, WordsOfArchives) {
  const Result<ViewSpec> tar = ParseViewSpec("shuffle=0042+tar+shards=008");
  ASSERT_TRUE(tar.ok()) << tar.status().text();
  EXPECT_TRUE(tar->has_archives() && !tar->renames());
  EXPECT_EQ(tar->archive.shards, 8U);
  EXPECT_EQ(tar->archive.shuffle, 42U);
  EXPECT_EQ(CanonicalSpec(*tar), "tar+shards=8+shuffle=42");
  EXPECT_EQ(Canonical("tar"), "tar");
  EXPECT_EQ(Canonical("shuffle=0+tar"), "tar+shuffle=0");
  for (const char* typed : {"tar+shard=1G", "tar+shard=1024M", "tar+shard=1048576k", "tar+shard=1073741824"}) {
    EXPECT_EQ(Canonical(typed), "tar+shard=1G");
  }
  EXPECT_EQ(Canonical("tar+shard=1025"), "tar+shard=1025");
  EXPECT_EQ(Canonical("tfrecord+base=1+keys=imagenet"), "tfrecord");
  EXPECT_EQ(Canonical("name=x+shuffle=1+base=1+shards=2+keys=tfds+tfrecord"),
            "tfrecord+shards=2+keys=tfds+name=x+base=1+shuffle=1");
  EXPECT_EQ(ParseViewSpec("tfrecord")->archive.label_base(), 1U);
  EXPECT_EQ(ParseViewSpec("tfrecord+keys=tfds+name=x")->archive.label_base(), 0U);
  EXPECT_EQ(ParseViewSpec("tfrecord+base=0")->archive.label_base(), 0U);
}

TEST(ViewSpec, LengthIsThatOfAName) {
  const std::string zeros(kViewSpecBytesMax - std::string("npy+crop=1").size(), '0');
  EXPECT_EQ(Canonical("npy+crop=" + zeros + "1"), "npy+crop=1");
  EXPECT_THAT(Canonical("npy+crop=0" + zeros + "1"), HasSubstr("longer than 255 bytes"));
}

TEST(ViewSpec, GrammarNamesEveryWord) {
  const std::string grammar(ViewGrammar());
  for (const char* form :
       {"npy ", "pixels ", "tar ", "size=N|WxH", "fit=short|long|squash", "filter=bilinear|bicubic|lanczos",
        "passes=pillow12|pillow13", "fast", "crop=N", "tolerant", "layout=hwc|chw", "dtype=u8|f32", "mean=A_B_C",
        "std=A_B_C", "item=tensor|pair|dict", "as=png|ppm|bmp", "all", "names=own"}) {
    EXPECT_THAT(grammar, HasSubstr(form));
  }
  for (size_t begin = 0; begin < grammar.size();) {
    const size_t end = grammar.find('\n', begin);
    ASSERT_NE(end, std::string::npos);
    EXPECT_LE(end - begin, 120U);
    begin = end + 1;
  }
}

// Any order of any words: the canonical form is the same, is no longer than what was typed, and reads back.
TEST(ViewSpec, RandomSpellings) {
  std::mt19937 random(7);
  const auto pick = [&](std::vector<std::string> from) { return from[random() % from.size()]; };
  for (int round = 0; round < 20'000; ++round) {
    const std::string kind = pick({"npy", "pt", "pixels"});
    std::vector<std::string> words = {kind};
    const auto maybe = [&](const std::string& word) {
      if (random() % 2 == 0) words.push_back(word);
    };
    if (random() % 3 != 0) {
      words.push_back("size=" + pick({"1", "224", "00256", "224x224", "12x34", "65535x2", "13000"}));
      maybe("fit=" + pick({"short", "long", "squash"}));
      maybe("filter=" + pick({"bilinear", "bicubic", "lanczos"}));
      maybe("passes=" + pick({"pillow12", "pillow13"}));
      maybe("fast");
    }
    maybe("crop=" + pick({"1", "224"}));
    maybe("tolerant");
    if (kind == "pt") maybe("item=" + pick({"tensor", "pair", "dict"}));
    if (kind != "pixels") {
      maybe("layout=" + pick({"hwc", "chw"}));
      if (random() % 2 == 0) {
        words.emplace_back("dtype=f32");
        const auto number = [&] { return "0." + std::to_string(random()) + std::to_string(1 + random() % 9); };
        maybe("mean=" + number() + "_" + pick({"0", "1", number()}) + "_" + number());
        maybe("std=" + number() + "_" + pick({"0.50", "1", number()}) + "_" + number());
      }
    } else {
      maybe("as=" + pick({"png", "ppm", "bmp"}));
      maybe("all");
      maybe("names=own");
    }
    const auto joined = [&] {
      std::ranges::shuffle(words, random);
      std::string text = words[0];
      for (size_t i = 1; i < words.size(); ++i) text += "+" + words[i];
      return text;
    };
    const std::string typed = joined();
    const Result<ViewSpec> spec = ParseViewSpec(typed);
    ASSERT_TRUE(spec.ok()) << spec.status().text();
    const std::string canonical = CanonicalSpec(*spec);
    EXPECT_LE(canonical.size(), typed.size());
    EXPECT_EQ(Canonical(joined()), canonical) << typed;
    const Result<ViewSpec> again = ParseViewSpec(canonical);
    ASSERT_TRUE(again.ok()) << again.status().text();
    EXPECT_EQ(*again, *spec) << typed;
    EXPECT_EQ(CanonicalSpec(*again), canonical);
  }
}

// Bytes that nobody meant as a view: an answer and never a crash.
TEST(ViewSpec, RandomBytes) {
  std::mt19937 random(8);
  const std::string letters = "npyixels+=_.x0129fitcrodmatzhku\xFF";
  for (int round = 0; round < 50'000; ++round) {
    constexpr std::array kBegins = {"npy+", "pixels+", "pt+item=", "zarr+crop=8+shard="};
    std::string text = kBegins[random() % kBegins.size()];
    for (size_t i = random() % 20; i > 0; --i) text += letters[random() % letters.size()];
    const Result<ViewSpec> spec = ParseViewSpec(text);
    if (spec.ok()) {
      EXPECT_EQ(Canonical(CanonicalSpec(*spec)), CanonicalSpec(*spec));
    }
  }
}

}  // namespace
}  // namespace augur
