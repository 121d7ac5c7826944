// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "augur/status.h"
#include "pack/container.h"

namespace augur {

enum class ContainerKind {
  kTar,  // or nothing that we know: the reader of tars says so
  kTfRecord,
  kRecordIo,
  kMds,
  kZip,
  kLmdb,
  kParquet,
  kArrow,
  kHdf5,
  kBeton,
};

// What a container is, by its content, of which `head` is the beginning: at least 4 KiB, or all. What the input failed
// with.
Result<ContainerKind> FindContainerKind(Container& container, std::span<const std::byte> head);

// Whether it has samples, which have no paths; else members, as an archive.
bool HasSamples(ContainerKind kind);

// What a file of this kind, which begins with `head`, is called: "a TFRecord file". Empty: it is no container that we
// know, or a zip, as files of arrays and tensors are.
std::string_view DescribeContainer(ContainerKind kind, std::span<const std::byte> head);

// Of a file that is a tar by FindContainerKind, and begins with `head`: a kind that we know and cannot read, with the
// cure. Empty: it may be a tar.
std::string_view WhyRefused(std::span<const std::byte> head);

}  // namespace augur
