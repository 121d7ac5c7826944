// SPDX-License-Identifier: Apache-2.0
#include "fs/resolve_in_view.h"

#include <string>

#include "decode/image_decoder.h"
#include "store/identity.h"
#include "views/render.h"

namespace augur {
namespace {

Result<Hash128> HashIn(const Store& store, const View& view, const Entry& entry, int32_t label) {
  const ImageInfo& info = entry.image;
  std::string text = view.text;
  const auto add = [&text](uint64_t part) { text.append(reinterpret_cast<const char*>(&part), sizeof part); };
  add(entry.size);
  for (uint64_t block = 0; block < Store::BlockCount(entry); ++block) {
    AUGUR_TRY_ASSIGN(identity, store.BlockIdentity(entry, block));
    add(identity.low);
    add(identity.high);
  }
  for (const uint64_t part : {uint64_t{info.width} << 32 | info.height, uint64_t{info.exif_bytes},
                              uint64_t{info.channels} << 24 | uint64_t{info.orientation} << 16 |
                                  uint64_t{info.bit_depth} << 8 | static_cast<uint64_t>(info.kind),
                              uint64_t{kRenderVersion} << 32 | DecoderVersions(), uint64_t{view.text.size()}}) {
    add(part);
  }
  if (view.spec.has_labels()) add(static_cast<uint32_t>(label));
  return UnforgeableHash(std::as_bytes(std::span(text)));
}

}  // namespace

Result<ViewFile> ResolveInView(const Store& store, const View& view, const Entry& entry, const ClassLabels* labels) {
  if (RoleInView(view.spec, entry) != ViewRole::kRendered) return ViewFile::Original(entry, view.number);
  int32_t label = 0;
  if (view.spec.has_labels()) {
    AUGUR_TRY_ASSIGN(found, labels->LabelIn(entry.parent));
    if (!found) return Status(Code::kNotFound, "in no class, so view " + view.text + " does not show it");
    label = *found;
  }
  AUGUR_TRY_ASSIGN(hash, HashIn(store, view, entry, label));
  return ViewFile{.entry = entry,
                  .view = view.number,
                  .rendered = true,
                  .in_archive = false,
                  .hash = hash,
                  .size = RenderedSize(view.spec, entry.image),
                  .label = label};
}

Result<ViewFile> ResolveInArchive(const Store& store, const View& view, const Entry& image) {
  if (image.type != EntryType::kFile || image.image.kind == ImageKind::kNone) {
    return Status(Code::kNotFound, "it is no image, which alone are in archives");
  }
  ViewFile file = ViewFile::Original(image);
  if (view.spec.has_stacked_arrays()) {
    AUGUR_TRY_ASSIGN(array, ResolveInView(store, view, image));
    if (!array.rendered) return Status(Code::kNotFound, "the view makes no array of it");
    file = array;
  }
  file.view = view.archives_number;
  file.in_archive = true;
  return file;
}

}  // namespace augur
