"""The sample store's maker: sessions such as Elyra and pi leave behind, from a seed, with totals known beforehand.

Sizes and contents follow real stores: mostly tool output and code, some reasoning and images, now and then a branch,
a compaction, a fork, an old file, and (with `damage`) the faults that docs/reading.md has rules for. No message has the
role `branchSummary` or `compactionSummary`: these arise when a context is built, no program writes them to a file.

    _texts.py ->  _session.py  ->  _damage.py  ->  _plan.py        ->  _store.py
    grammar       one session      its faults      which sessions      files on disk

A grammar says what entries and texts look like; text is made once, in pools, and sliced: that is what makes it fast. A
file depends on the options and its number alone. Nothing is imported but the standard library.
"""

from ._plan import PROFILES, Profile
from ._store import Corpus, open_corpus, remove_corpus, write_corpus

__all__ = ["PROFILES", "Corpus", "Profile", "open_corpus", "remove_corpus", "write_corpus"]
