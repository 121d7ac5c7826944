// SPDX-License-Identifier: Apache-2.0
#include "remote/s3_answers.h"

#include <cstdint>
#include <optional>
#include <pugixml.hpp>
#include <sstream>

#include "base/excerpt.h"
#include "base/units.h"
#include "s3/uri_encoding.h"

namespace augur {
namespace {

Status NotThat(std::string_view what, std::string_view body) {
  return {Code::kInvalid, "the server's answer is no " + std::string(what) + ": '" + Excerpt(body) + "'"};
}

// The keys of a list, which a server encodes where it was asked to and knows how.
class Keys {
 public:
  explicit Keys(const pugi::xml_node& root) : encoded_(std::string_view(root.child_value("EncodingType")) == "url") {}

  // Nothing: the text is not what the server says that it is.
  std::optional<std::string> Of(const pugi::xml_node& node, const char* element) const {
    const char* const text = node.child_value(element);
    return encoded_ ? FormDecode(text) : std::string(text);
  }

 private:
  const bool encoded_;
};

std::optional<uint64_t> NumberOf(std::string_view text) {
  const Result<uint64_t> number = ParseCount(text);
  return number.ok() ? std::optional(*number) : std::nullopt;
}

std::optional<UtcTime> TimeOf(std::string_view text) {
  const Result<UtcTime> time = ParseIsoTime(text);
  return time.ok() ? std::optional(*time) : std::nullopt;
}

// Some servers leave the quotation marks out, without which no header may have an ETag.
std::string ETagOf(const std::string& text) { return text.empty() || text.ends_with('"') ? text : "\"" + text + "\""; }

bool IsTrue(const pugi::xml_node& node) { return std::string_view(node.text().get()) == "true"; }

}  // namespace

Result<ObjectPage> ReadObjectList(std::string_view body) {
  pugi::xml_document document;
  // A key may be all spaces.
  const bool parsed =
      document.load_buffer(body.data(), body.size(), pugi::parse_default | pugi::parse_ws_pcdata_single).status ==
      pugi::status_ok;
  const pugi::xml_node root = document.child("ListBucketResult");
  if (!parsed || !root) return NotThat("list of objects", body);
  const Keys keys(root);
  ObjectPage page;
  for (const pugi::xml_node& node : root.children("Contents")) {
    std::optional<std::string> key = keys.Of(node, "Key");
    if (!key) return NotThat("list of encoded keys", node.child_value("Key"));
    page.objects.push_back({.key = *std::move(key),
                            .bytes = NumberOf(node.child_value("Size")),
                            .etag = ETagOf(node.child_value("ETag")),
                            .since = TimeOf(node.child_value("LastModified"))});
  }
  for (const pugi::xml_node& node : root.children("CommonPrefixes")) {
    std::optional<std::string> key = keys.Of(node, "Prefix");
    if (!key) return NotThat("list of encoded keys", node.child_value("Prefix"));
    page.folders.push_back(*std::move(key));
  }
  if (!IsTrue(root.child("IsTruncated"))) return page;
  page.next = root.child_value("NextContinuationToken");
  if (page.next.empty()) return NotThat("complete list, nor says where the rest is", body);
  return page;
}

Result<ObjectPage> ReadUploadList(std::string_view body) {
  pugi::xml_document document;
  const bool parsed = document.load_buffer(body.data(), body.size());
  const pugi::xml_node root = document.child("ListMultipartUploadsResult");
  if (!parsed || !root) return NotThat("list of uploads", body);
  ObjectPage page;
  for (const pugi::xml_node& node : root.children("Upload")) {
    page.objects.push_back({.key = node.child_value("Key"),
                            .upload_id = node.child_value("UploadId"),
                            .since = TimeOf(node.child_value("Initiated"))});
  }
  if (IsTrue(root.child("IsTruncated"))) {
    page.next = root.child_value("NextKeyMarker");
    page.next_upload = root.child_value("NextUploadIdMarker");
  }
  return page;
}

Result<std::string> ReadUploadId(std::string_view body) {
  pugi::xml_document document;
  const bool parsed = document.load_buffer(body.data(), body.size());
  std::string id = document.child("InitiateMultipartUploadResult").child_value("UploadId");
  if (!parsed || id.empty()) return NotThat("upload", body);
  return id;
}

std::string CompletionText(const std::vector<std::string>& etags) {
  pugi::xml_document document;
  pugi::xml_node root = document.append_child("CompleteMultipartUpload");
  root.append_attribute("xmlns") = "http://s3.amazonaws.com/doc/2006-03-01/";
  for (size_t index = 0; index < etags.size(); ++index) {
    pugi::xml_node part = root.append_child("Part");
    part.append_child("ETag").text().set(etags[index].c_str());
    part.append_child("PartNumber").text().set(uint64_t{index} + 1);
  }
  std::ostringstream text;
  document.save(text, "", pugi::format_raw | pugi::format_no_declaration);
  return text.str();
}

}  // namespace augur
