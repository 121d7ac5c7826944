// SPDX-License-Identifier: Apache-2.0
#include "http/http_operation.h"

#include "base/excerpt.h"

namespace augur {

HttpVerdict JudgeByCode(const HttpResponse& response) {
  if (!response.status.ok()) return {HttpVerdict::Kind::kFailed, response.status};
  if (response.succeeded()) return {};
  std::string text = response.request + ": the server answered " + std::to_string(response.code);
  if (!response.body.empty()) text += ": " + Excerpt(response.body);
  switch (response.code) {
    case 429:
    case 500:
    case 502:
    case 503:
    case 504: return {HttpVerdict::Kind::kAgain, {Code::kIo, text}};
    case 401:
    case 403: return {HttpVerdict::Kind::kFailed, {Code::kPermission, text}};
    case 404: return {HttpVerdict::Kind::kFailed, {Code::kNotFound, text}};
    case 412: return {HttpVerdict::Kind::kFailed, {Code::kChanged, text}};
    default: return {HttpVerdict::Kind::kFailed, {Code::kIo, text}};
  }
}

}  // namespace augur
