// SPDX-License-Identifier: Apache-2.0
#include "http/http_request.h"

#include <gtest/gtest.h>

namespace augur {
namespace {

TEST(UrlWithoutSecrets, LeavesOutUserPasswordAndQuery) {
  EXPECT_EQ(UrlWithoutSecrets("https://host:1/a/b?sv=1&sig=secret"), "https://host:1/a/b");
  EXPECT_EQ(UrlWithoutSecrets("https://user:pass@host/a@b"), "https://host/a@b");
  EXPECT_EQ(UrlWithoutSecrets("http://host?sig=secret"), "http://host");
  EXPECT_EQ(UrlWithoutSecrets("http://host/a#secret"), "http://host/a");
  EXPECT_EQ(UrlWithoutSecrets("no url"), "no url");
}

TEST(HttpResponse, FindsTheFirstHeaderOfAName) {
  HttpResponse response;
  response.headers = {{"etag", "\"a\""}, {"etag", "\"b\""}};
  EXPECT_EQ(response.Header("etag"), "\"a\"");
  EXPECT_EQ(response.Header("date"), "");
}

}  // namespace
}  // namespace augur
