// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "augur/status.h"
#include "s3/utc_time.h"

namespace augur {

// What S3 says in the bodies of its answers, and is told in the bodies of requests. XML; the functions take anything,
// and kInvalid is an answer that is none of the kind.

// An object, or a multipart upload that is not complete.
struct ListedObject {
  std::string key;
  std::string upload_id = {};  // of an upload
  // Of an object, where the server says so.
  std::optional<uint64_t> bytes = {};
  std::string etag = {};              // with its quotation marks
  std::optional<UtcTime> since = {};  // when it was written; of an upload, when it was begun
};

// One page of a list.
struct ObjectPage {
  std::vector<ListedObject> objects = {};
  std::vector<std::string> folders = {};  // the keys up to a delimiter, of objects that are not listed one by one
  // Where the next page begins; empty: this is the last. For a list of uploads it is a key, and next_upload goes with
  // it.
  std::string next = {};
  std::string next_upload = {};
};

// The answer to ListObjectsV2. Keys are decoded where the server has encoded them (encoding-type=url).
Result<ObjectPage> ReadObjectList(std::string_view body);
// The answer to ListMultipartUploads.
Result<ObjectPage> ReadUploadList(std::string_view body);
// The id in the answer to CreateMultipartUpload.
Result<std::string> ReadUploadId(std::string_view body);
// What CompleteMultipartUpload is told: the ETag of each part, the first of which is number 1.
std::string CompletionText(const std::vector<std::string>& etags);

}  // namespace augur
