// SPDX-License-Identifier: Apache-2.0
// Only so that the headers that tests/CMakeLists.txt names are compiled once.
