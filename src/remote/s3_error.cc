// SPDX-License-Identifier: Apache-2.0
#include "remote/s3_error.h"

#include <pugixml.hpp>

namespace augur {

S3Error ReadS3Error(std::string_view body) {
  pugi::xml_document document;
  if (!document.load_buffer(body.data(), body.size())) return {};
  const pugi::xml_node error = document.child("Error");
  return {.code = error.child_value("Code"),
          .message = error.child_value("Message"),
          .region = error.child_value("Region")};
}

}  // namespace augur
