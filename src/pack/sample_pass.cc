// SPDX-License-Identifier: Apache-2.0
#include "pack/sample_pass.h"

#include <optional>
#include <string>
#include <utility>

#include "base/check.h"
#include "pack/arrow_pass.h"
#include "pack/beton_pass.h"
#include "pack/hdf5_pass.h"
#include "pack/lmdb_pass.h"
#include "pack/mds_pass.h"
#include "pack/parquet_pass.h"
#include "pack/recordio_pass.h"
#include "pack/tfrecord_pass.h"

namespace augur {

Status RunSamplePass(Container& container, ContainerKind kind, const SampleTarget& target, StoreWriter& writer,
                     PackObserver& observer) {
  std::optional<LabelNames> own_names;
  if (!container.path.empty()) {
    AUGUR_TRY_ASSIGN(beside, LabelNames::FindBeside(container.path));
    own_names = std::move(beside);
  }
  SampleFolders folders(container, target.layout, own_names ? &*own_names : nullptr, target.alone, target.copier,
                        writer, observer);
  const std::string names_from = target.layout.key_of_names();
  switch (kind) {
    case ContainerKind::kTfRecord: return TfRecordPass(container, names_from, folders, observer).Run();
    case ContainerKind::kRecordIo: return RecordIoPass(container, folders, observer).Run();
    case ContainerKind::kMds: return MdsPass(container, names_from, folders, observer).Run();
    case ContainerKind::kLmdb: return LmdbPass(container, target.layout.database, folders, observer).Run();
    case ContainerKind::kParquet: return ParquetPass(container, names_from, folders, observer).Run();
    case ContainerKind::kArrow: return ArrowPass(container, names_from, folders, observer).Run();
    case ContainerKind::kHdf5: return Hdf5Pass(container, names_from, folders, observer).Run();
    case ContainerKind::kBeton: return BetonPass(container, names_from, folders, observer).Run();
    case ContainerKind::kTar:
    case ContainerKind::kZip: break;
  }
  AUGUR_CHECK(false);
}

}  // namespace augur
