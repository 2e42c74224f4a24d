"""Data sets of broken things: drops, hits and patterns, drawn from distributions.

`python -m fracas.dataset make --shapes DIR --count N --out DIR` makes one, and
`python -m fracas.dataset show DIR` draws what was made. The same from Python:

>>> from fracas import dataset
>>> dataset.make("shapes", 1000, "out")  # doctest: +SKIP

A sample is a function of its number, the settings and the shapes alone: the same number
gives the same bytes on every machine, in one process or a thousand.
"""

from .run import make
from .settings import Settings, SettingsError
from .show import show
from .store import rows

__all__ = ["Settings", "SettingsError", "make", "rows", "show"]
