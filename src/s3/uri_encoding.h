// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace augur {

// Headers, or the parameters of a query, in their order.
using NameValues = std::vector<std::pair<std::string, std::string>>;

enum class Slashes { kKeep, kEncode };

// The text by the rule of Signature Version 4: A-Z, a-z, 0-9, '-', '.', '_' and '~' stay, any other byte becomes %XX
// with upper-case digits. Slashes stay in the path of a key and nowhere else.
// Source: docs.aws.amazon.com, "Create a signed AWS API request", UriEncode().
std::string UriEncode(std::string_view text, Slashes slashes);

// Undoes the encoding of a form: %XX is a byte, '+' a space. So S3 encodes keys where it is asked to
// (encoding-type=url). Nothing: a '%' without two digits.
std::optional<std::string> FormDecode(std::string_view text);

// The parameters, encoded and in the order that is signed: by encoded name, then by encoded value, "a=1&b=". A request
// must be sent with its query in this form. Also the body of a form (application/x-www-form-urlencoded).
std::string CanonicalQuery(const NameValues& parameters);

}  // namespace augur
