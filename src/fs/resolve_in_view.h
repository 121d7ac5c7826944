// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "augur/store.h"
#include "datasets/class_labels.h"
#include "fs/view_table.h"
#include "prefetch/view_file.h"
#include "views/view_role.h"

namespace augur {

// The file of the view, with what names its bytes. Of an image these are 128 bits of a SHA-256. That is over the
// identity of each block of the record (Store::BlockIdentity), what the index states of the image, the view, and the
// label. It is also over the versions of what decodes and renders. So bytes that an earlier version has rendered are
// never found, and no other store can name them. `labels` are the store's, and may be nullptr where the view's files
// have none. kNotFound: the image is in no class, and the view's files have a label. Else failures: as BlockIdentity
// and LabelIn. REQUIRES: not absent.
Result<ViewFile> ResolveInView(const Store& store, const View& view, const Entry& entry,
                               const ClassLabels* labels = nullptr);

// The image, or its array, as the archives of the view have it: the file that is read ahead for READs of it. Failures:
// kNotFound, it is no image; else as ResolveInView. REQUIRES: view.spec.has_archives().
Result<ViewFile> ResolveInArchive(const Store& store, const View& view, const Entry& image);

}  // namespace augur
