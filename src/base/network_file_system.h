// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace augur {

// Whether files of this type of file system (statfs::f_type) are kept by a server or by another program: NFS, SMB,
// Ceph, Lustre, FUSE and their like. There an open file may fail for good though the file is well.
bool IsNetworkFileSystem(uint64_t type);

// Whether the file or folder lies on one. False: the system does not tell.
bool IsOnNetworkFileSystem(int fd);

// Whether a read of an open file that failed with this errno may succeed once the file is opened anew. Then the server
// has lost its handles (ESTALE), or the file system was mounted anew (ENOTCONN, ESHUTDOWN). `network`: the file lies on
// a network file system, where EIO may mean the same (NFS mounted "soft", SMB, FUSE).
bool IsLostHandle(int error, bool network);

}  // namespace augur
