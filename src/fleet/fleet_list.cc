// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_list.h"

#include "base/text_file.h"
#include "base/units.h"

namespace augur {

Result<FleetList> FleetList::Parse(const std::string& text) {
  FleetList list;
  if (text.starts_with('@')) {
    list.file_ = text.substr(1);
    if (list.file_.empty()) return Status(Code::kInvalid, "the name of a file is missing behind the @");
    return list;
  }
  AUGUR_TRY_ASSIGN(addresses, ParseFleetAddresses(text));
  list.addresses_ = std::move(addresses);
  return list;
}

Result<std::vector<FleetAddress>> FleetList::Read() const {
  if (file_.empty()) return addresses_;
  AUGUR_TRY_ASSIGN(text, ReadTextFile(file_));
  Result<std::vector<FleetAddress>> addresses = ParseFleetAddresses(text);
  if (!addresses.ok()) return addresses.status().In(Printable(file_));
  return addresses;
}

}  // namespace augur
