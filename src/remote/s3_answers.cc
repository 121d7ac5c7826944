// SPDX-License-Identifier: Apache-2.0
#include "remote/s3_answers.h"

#include <cstdint>
#include <pugixml.hpp>
#include <sstream>

#include "base/excerpt.h"

namespace augur {
namespace {

Status NotThat(std::string_view what, std::string_view body) {
  return {Code::kInvalid, "the server's answer is no " + std::string(what) + ": '" + Excerpt(body) + "'"};
}

bool IsTrue(const pugi::xml_node& node) { return std::string_view(node.text().get()) == "true"; }

}  // namespace

Result<ObjectPage> ReadObjectList(std::string_view body) {
  pugi::xml_document document;
  const bool parsed = document.load_buffer(body.data(), body.size());
  const pugi::xml_node root = document.child("ListBucketResult");
  if (!parsed || !root) return NotThat("list of objects", body);
  ObjectPage page;
  for (const pugi::xml_node& node : root.children("Contents")) page.objects.push_back({.key = node.child_value("Key")});
  if (IsTrue(root.child("IsTruncated"))) page.next = root.child_value("NextContinuationToken");
  return page;
}

Result<ObjectPage> ReadUploadList(std::string_view body) {
  pugi::xml_document document;
  const bool parsed = document.load_buffer(body.data(), body.size());
  const pugi::xml_node root = document.child("ListMultipartUploadsResult");
  if (!parsed || !root) return NotThat("list of uploads", body);
  ObjectPage page;
  for (const pugi::xml_node& node : root.children("Upload")) {
    page.objects.push_back({.key = node.child_value("Key"), .upload_id = node.child_value("UploadId")});
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
