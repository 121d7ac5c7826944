// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace augur {

// Tells the service manager that has started this program, and waits for the word, that the mount answers (systemd's
// Type=notify; the protocol of sd_notify(3)). Does nothing where none does. Never waits, and fails without a word: the
// service manager then says itself that nothing came. Any thread.
void TellServiceManagerReady();

}  // namespace augur
