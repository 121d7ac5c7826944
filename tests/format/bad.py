# SPDX-License-Identifier: Apache-2.0
"""The bad stores, each named by its one defect: how it is made from a good store, and what an error must say.

BAD is the table that the tests run over. `defect` is the reader.py name of the broken rule; `file` and each of `words`
are regular expressions (case ignored) that the error text of every reader must hold: which file, and what is wrong with it.
"""

import bad_catalogue  # noqa: F401
import bad_entries  # noqa: F401
import bad_index  # noqa: F401
import bad_manifest  # noqa: F401
import bad_shard_table  # noqa: F401
import bad_shards  # noqa: F401
from bad_table import BAD

__all__ = ["BAD"]
