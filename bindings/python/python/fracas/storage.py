"""Where results lie: a folder, or any URL that fsspec knows (`s3://bucket/set`, `memory://set`).

Both write files whole or not at all. A folder does so by renaming. Elsewhere there is no
renaming of folders: files are put one after another, and what makes them count is put last.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Iterator

WORK = ".work"


def is_url(place: str | Path) -> bool:
    return "://" in str(place)


def resolve(place: str | Path) -> str:
    """A name of the place that is good in every process: URLs of files are paths."""
    text = str(place)
    for start in ("file://", "local://"):
        if text.startswith(start):
            text = text.removeprefix(start)
    return text.rstrip("/") if is_url(text) else str(Path(text).resolve())


@lru_cache(maxsize=8)
def open_storage(place: str) -> Folder | Remote:
    """The storage at a place that `resolve` gave."""
    return Remote(place) if is_url(place) else Folder(place)


class Folder:
    """A folder of this machine, or one that all machines see."""

    def __init__(self, root: str) -> None:
        self.root = Path(root)

    def __str__(self) -> str:
        return str(self.root)

    def exists(self, name: str) -> bool:
        return (self.root / name).exists()

    def read(self, name: str) -> bytes:
        return (self.root / name).read_bytes()

    def write(self, name: str, data: bytes) -> None:
        """Writes a file, whole or not at all."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}.{_once()}")
        beside.write_bytes(data)
        os.replace(beside, path)

    def find(self, under: str) -> list[str]:
        """All files below a folder, as names below the root, sorted."""
        found = []
        for folder, _, files in os.walk(self.root / under):
            inside = Path(folder).relative_to(self.root).as_posix()
            found += [f"{inside}/{file}" for file in files if not file.startswith(".")]
        return sorted(found)

    def remove(self, name: str) -> None:
        """Takes away a file, or a folder with all that is in it."""
        path = self.root / name
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)

    def put_folder(self, made: Path, name: str) -> None:
        """Moves a folder of this machine to its place, whole or not at all. One that is there
        already is as good: it was moved whole, too, and what a sample is depends on nothing.
        """
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.rename(made, path)
        except OSError:
            if not path.is_dir():
                raise
            shutil.rmtree(made, ignore_errors=True)

    def put_file(self, made: Path, name: str) -> None:
        """Moves a file of this machine to its place."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        os.replace(made, path)

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """An empty folder to prepare things in, near enough to be moved from."""
        path = self.root / WORK / _once()
        path.mkdir(parents=True)
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    @contextmanager
    def fetch(self, name: str) -> Iterator[Path]:
        """A file as one of this machine."""
        yield self.root / name


class Remote:
    """What fsspec opens: object stores, other machines, memory."""

    def __init__(self, url: str) -> None:
        try:
            import fsspec
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(f"{url}: writing to URLs needs the package fsspec") from error
        self.url = url
        self.files: Any
        self.files, self.root = fsspec.core.url_to_fs(url)
        self.root = self.root.rstrip("/")

    def __str__(self) -> str:
        return self.url

    def _at(self, name: str) -> str:
        return f"{self.root}/{name}"

    def exists(self, name: str) -> bool:
        # Others write there: what was listed before may have changed.
        self.files.invalidate_cache()
        return self.files.exists(self._at(name))

    def read(self, name: str) -> bytes:
        return self.files.cat_file(self._at(name))

    def write(self, name: str, data: bytes) -> None:
        """Puts a file beside and moves it: not all stores put it whole or not at all."""
        beside = self._at(f"{WORK}/{_once()}")
        self._make_parent(beside)
        self.files.pipe_file(beside, data)
        self._make_parent(self._at(name))
        self.files.mv(beside, self._at(name))

    def _make_parent(self, path: str) -> None:
        self.files.makedirs(path.rsplit("/", 1)[0], exist_ok=True)

    def find(self, under: str) -> list[str]:
        """All files below a folder, as names below the root, sorted."""
        self.files.invalidate_cache()
        cut = len(self.root) + 1
        try:
            found = self.files.find(self._at(under))
        except FileNotFoundError:
            return []
        names = (path[cut:] for path in found)
        return sorted(name for name in names if not name.rsplit("/", 1)[-1].startswith("."))

    def remove(self, name: str) -> None:
        """Takes away a file, or a folder with all that is in it."""
        try:
            self.files.rm(self._at(name), recursive=True)
        except FileNotFoundError:
            pass

    def put_folder(self, made: Path, name: str) -> None:
        """Puts all files of a folder. What is there already has the same bytes."""
        for path in sorted(made.iterdir()):
            self.put_file(path, f"{name}/{path.name}")

    def put_file(self, made: Path, name: str) -> None:
        """Puts a file of this machine."""
        self._make_parent(self._at(name))
        self.files.put_file(str(made), self._at(name))

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """An empty folder to prepare things in."""
        with tempfile.TemporaryDirectory(prefix="fracas-") as folder:
            yield Path(folder)

    @contextmanager
    def fetch(self, name: str) -> Iterator[Path]:
        """A copy of a file on this machine."""
        with tempfile.TemporaryDirectory(prefix="fracas-") as folder:
            path = Path(folder) / name.rsplit("/", 1)[-1]
            path.write_bytes(self.read(name))
            yield path


def _once() -> str:
    """A word that no other process uses, on whatever machine."""
    return uuid.uuid4().hex
