"""Data sets at URLs: the same bytes as in a folder, through every step."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import COUNT, files

from fracas import dataset
from fracas.dataset import store
from fracas.dataset.show import load_pieces
from fracas.storage import open_storage, resolve

fsspec = pytest.importorskip("fsspec")

# A store that is neither memory nor a folder to us: objects of many processes at one place,
# which cannot be renamed but one by one. fsspec finds it as it finds s3fs, by its entry point.
OBJECTS = """
from fsspec.implementations.local import LocalFileSystem

class Objects(LocalFileSystem):
    protocol = ("objects",)
    cachable = True

    @classmethod
    def _strip_protocol(cls, path):
        return LocalFileSystem._strip_protocol(str(path).removeprefix("objects:/"))

    def mv(self, path1, path2, **kwargs):
        if self.isdir(path1):
            raise NotImplementedError("objects have no folders")
        return super().mv(path1, path2, **kwargs)
"""


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    """The environment of processes that know `objects://`."""
    folder = tmp_path_factory.mktemp("objects")
    (folder / "object_store.py").write_text(OBJECTS)
    told = folder / "object_store-1.0.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: object-store\nVersion: 1.0\n")
    (told / "entry_points.txt").write_text("[fsspec.specs]\nobjects = object_store:Objects\n")
    paths = [str(folder), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}


def files_at(url):
    """All files at a URL, with what is in them."""
    storage, root = fsspec.core.url_to_fs(url)
    cut = len(root.rstrip("/")) + 1
    data = {path[cut:]: storage.cat_file(path) for path in storage.find(root)}
    return {name: hashlib.sha256(bytes_).hexdigest() for name, bytes_ in data.items()}


def test_memory_holds_the_same_bytes(made, shapes, settings):
    url = "memory://sets/one"
    dataset.make(shapes, 6, url, settings, processes=1, progress=None)
    storage = open_storage(resolve(url))
    # As a killed run leaves it: pieces without a row, a file that was not moved yet.
    lost = max(store.numbers(url, "samples"))
    storage.remove(store.row_name("samples", lost))
    storage.files.pipe_file(f"{storage.root}/.work/half", b"{")
    assert lost not in {row["id"] for row in dataset.rows(url)}
    counts = dataset.make(shapes, COUNT, url, settings, processes=1, progress=None)
    assert counts["samples"] + counts["failed"] == COUNT
    assert files_at(url) == files(made)
    row = next(dataset.rows(url))
    assert len(load_pieces(url, row)) == row["pieces"]
    sheet, page = dataset.show(url, 2)
    assert sheet == f"{url}/contact_sheet.png" and page == f"{url}/index.html"
    assert storage.read("contact_sheet.png").startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="other settings"):
        dataset.make(shapes, 1, url, dataset.Settings({"tets": 301}), progress=None)


def test_a_pool_writes_to_a_store_of_objects(made, shapes, settings, tmp_path, objects):
    """Every worker writes to the store by itself; nothing goes through the parent."""
    command = [sys.executable, "-m", "fracas.dataset", "make", "--shapes", str(shapes)]
    command += ["--count", str(COUNT), "--out", f"objects:/{tmp_path}/set"]
    command += ["--settings", str(settings), "--processes", "2"]
    done = subprocess.run(command, env=objects, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert files(tmp_path / "set") == files(made)


def test_urls_of_files_are_folders(tmp_path):
    assert resolve(f"file://{tmp_path}/set") == resolve(tmp_path / "set")
    storage = open_storage(resolve(f"file://{tmp_path}/set"))
    storage.write("a/b.txt", b"one")
    storage.write("a/b.txt", b"two")
    assert (Path(tmp_path) / "set/a/b.txt").read_bytes() == b"two"
    assert storage.find("a") == ["a/b.txt"] and storage.find("none") == []


def test_a_folder_that_is_there_is_kept(tmp_path):
    """Two workers may make one sample at once: at no moment is it gone or half there."""
    storage = open_storage(str(tmp_path))
    for _ in range(2):
        with storage.scratch() as work:
            (work / "piece_0.obj").write_text("v 0 0 0\n")
            storage.put_folder(work, "set/fractured_1")
    assert files(tmp_path).keys() == {"set/fractured_1/piece_0.obj"}
    assert not list((tmp_path / ".work").iterdir())


def test_a_store_that_is_not_known_is_named(shapes, settings, tmp_path):
    command = [sys.executable, "-m", "fracas.dataset", "make", "--shapes", str(shapes)]
    command += ["--count", "1", "--out", "nowhere://set", "--settings", str(settings)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and "nowhere" in done.stderr
    assert "Traceback" not in done.stderr
