// SPDX-License-Identifier: Apache-2.0
#include "remote/s3_answers.h"

#include <gtest/gtest.h>

namespace augur {
namespace {

// The bodies follow the examples of the Amazon S3 API Reference.

TEST(S3Answers, AListOfObjects) {
  const Result<ObjectPage> page = ReadObjectList(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
      "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>bucket</Name><Prefix/>"
      "<NextContinuationToken>1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=</NextContinuationToken>"
      "<KeyCount>2</KeyCount><MaxKeys>2</MaxKeys><IsTruncated>true</IsTruncated>"
      "<Contents><Key>train/a&amp;b</Key><Size>1</Size></Contents><Contents><Key>train/c</Key></Contents>"
      "<CommonPrefixes><Prefix>train/folder/</Prefix></CommonPrefixes></ListBucketResult>");
  ASSERT_TRUE(page.ok()) << page.status().text();
  ASSERT_EQ(page->objects.size(), 2U);
  EXPECT_EQ(page->objects[0].key, "train/a&b");
  EXPECT_EQ(page->objects[1].key, "train/c");
  EXPECT_EQ(page->next, "1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=");
}

TEST(S3Answers, AListSaysWhatEachObjectIs) {
  const Result<ObjectPage> page = ReadObjectList(
      "<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>false</IsTruncated>"
      "<Contents><Key>p/a+b%2B%0A</Key><LastModified>2009-10-12T17:50:30.000Z</LastModified>"
      "<ETag>&quot;fba9dede5f27731c9771645a39863328&quot;</ETag><Size>434234</Size></Contents>"
      "<Contents><Key>p/b</Key><ETag>1</ETag><Size>-1</Size><LastModified>now</LastModified></Contents>"
      "<CommonPrefixes><Prefix>p/%C3%A9/</Prefix></CommonPrefixes></ListBucketResult>");
  ASSERT_TRUE(page.ok()) << page.status().text();
  ASSERT_EQ(page->objects.size(), 2U);
  EXPECT_EQ(page->objects[0].key, "p/a b+\n");
  EXPECT_EQ(page->objects[0].bytes, 434'234U);
  EXPECT_EQ(page->objects[0].etag, "\"fba9dede5f27731c9771645a39863328\"");
  EXPECT_EQ(page->objects[0].since, UtcTime(std::chrono::seconds(1'255'369'830)));  // date -u -d ... +%s
  EXPECT_EQ(page->objects[1].etag, "\"1\"");
  EXPECT_FALSE(page->objects[1].bytes.has_value());
  EXPECT_FALSE(page->objects[1].since.has_value());
  EXPECT_EQ(page->folders, std::vector<std::string>{"p/\u00e9/"});
}

TEST(S3Answers, AKeyOfSpacesAndOneThatIsNotEncoded) {
  const Result<ObjectPage> page = ReadObjectList(
      "<ListBucketResult><EncodingType></EncodingType><Contents><Key>  </Key></Contents>"
      "<Contents><Key>100%+</Key></Contents></ListBucketResult>");
  ASSERT_TRUE(page.ok()) << page.status().text();
  EXPECT_EQ(page->objects[0].key, "  ");
  EXPECT_EQ(page->objects[1].key, "100%+");
}

TEST(S3Answers, AListThatIsCutIsRefused) {
  EXPECT_EQ(ReadObjectList("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>").status().code(),
            Code::kInvalid);
  EXPECT_EQ(ReadObjectList("<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>%2</Key></Contents>"
                           "</ListBucketResult>")
                .status()
                .code(),
            Code::kInvalid);
}

TEST(S3Answers, TheLastPageHasNoNext) {
  const Result<ObjectPage> page = ReadObjectList(
      "<ListBucketResult><IsTruncated>false</IsTruncated><NextContinuationToken>x</NextContinuationToken>"
      "</ListBucketResult>");
  ASSERT_TRUE(page.ok()) << page.status().text();
  EXPECT_TRUE(page->objects.empty());
  EXPECT_EQ(page->next, "");
}

TEST(S3Answers, AListOfUploads) {
  const Result<ObjectPage> page = ReadUploadList(
      "<ListMultipartUploadsResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Bucket>bucket</Bucket>"
      "<KeyMarker/><UploadIdMarker/><NextKeyMarker>my-movie.m2ts</NextKeyMarker>"
      "<NextUploadIdMarker>YW55IGlkZWEgd2h5IGVsdmluZydzIHVwbG9hZCBmYWlsZWQ</NextUploadIdMarker>"
      "<MaxUploads>1</MaxUploads><IsTruncated>true</IsTruncated>"
      "<Upload><Key>my-divisor</Key><UploadId>XMgbGlrZSBlbHZpbmcncyBub3QgaGF2aW5nIG11Y2ggbHVjaw</UploadId></Upload>"
      "</ListMultipartUploadsResult>");
  ASSERT_TRUE(page.ok()) << page.status().text();
  ASSERT_EQ(page->objects.size(), 1U);
  EXPECT_EQ(page->objects[0].key, "my-divisor");
  EXPECT_EQ(page->objects[0].upload_id, "XMgbGlrZSBlbHZpbmcncyBub3QgaGF2aW5nIG11Y2ggbHVjaw");
  EXPECT_EQ(page->next, "my-movie.m2ts");
  EXPECT_EQ(page->next_upload, "YW55IGlkZWEgd2h5IGVsdmluZydzIHVwbG9hZCBmYWlsZWQ");
}

TEST(S3Answers, TheIdOfAnUpload) {
  const Result<std::string> id = ReadUploadId(
      "<InitiateMultipartUploadResult><Bucket>b</Bucket><Key>k</Key><UploadId>VXBsb2FkIElE</UploadId>"
      "</InitiateMultipartUploadResult>");
  ASSERT_TRUE(id.ok()) << id.status().text();
  EXPECT_EQ(*id, "VXBsb2FkIElE");
}

TEST(S3Answers, OtherAnswersAreRefused) {
  for (const char* const body : {"", "<html>", "<Error><Code>x</Code></Error>", "<InitiateMultipartUploadResult/>"}) {
    EXPECT_EQ(ReadObjectList(body).status().code(), Code::kInvalid) << body;
    EXPECT_EQ(ReadUploadList(body).status().code(), Code::kInvalid) << body;
    EXPECT_EQ(ReadUploadId(body).status().code(), Code::kInvalid) << body;
  }
}

TEST(S3Answers, TheCompletionNumbersPartsFromOne) {
  EXPECT_EQ(CompletionText({"\"a\"", "\"b\""}),
            "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
            "<Part><ETag>\"a\"</ETag><PartNumber>1</PartNumber></Part>"
            "<Part><ETag>\"b\"</ETag><PartNumber>2</PartNumber></Part></CompleteMultipartUpload>");
}

}  // namespace
}  // namespace augur
