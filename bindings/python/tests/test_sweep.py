"""The report's sweeps in parts: the same section to the last bit."""

import json

import pytest

import fracas
from fracas.sweep import main, sweep

SECTION = "glondu-fig16"


def measured(folder):
    """A section as the page shows it, and its picture: all but when and where it was measured."""
    section = json.loads((folder / "sections" / f"{SECTION}.json").read_text())
    del section["provenance"]
    figures = sorted((folder / "figures").iterdir())
    assert figures and section["values"]
    return section, [figure.read_bytes() for figure in figures]


@pytest.fixture(scope="module")
def whole(tmp_path_factory, command):
    """By the command line, in one piece."""
    out = tmp_path_factory.mktemp("whole")
    command("report", "--only", SECTION, "--tiny", "--out", out)
    return measured(out)


def test_a_pool_measures_the_same(whole, tmp_path):
    out = tmp_path / "set"
    assert main([SECTION, "--shards", "3", "--scale", "tiny", "--out", str(out), "--processes", "2"]) == 0
    assert measured(out) == whole
    # What is there is kept, what is gone is measured again.
    kept = (out / "shards" / f"{SECTION}.1-of-3.json").stat().st_mtime_ns
    (out / "shards" / f"{SECTION}.2-of-3.json").unlink()
    assert sweep(SECTION, 3, out, scale="tiny", processes=1, progress=None) == [SECTION]
    assert (out / "shards" / f"{SECTION}.1-of-3.json").stat().st_mtime_ns == kept
    assert measured(out) == whole
    with pytest.raises(ValueError, match="another sweep"):
        sweep(SECTION, 3, out, scale="tiny", seed=1, progress=None)


def test_ray_measures_the_same(whole, tmp_path, cluster, nodes):
    nodes(2)
    sweep(SECTION, 5, tmp_path, scale="tiny", ray=cluster.address, progress=None)
    assert measured(tmp_path) == whole


def test_what_makes_no_sense_is_refused(tmp_path, capsys):
    for arguments, why in [
        (("nothing", 1, 1, tmp_path), "no sweep is called nothing"),
        (("peers-mesh", 1, 1, tmp_path), "no sweep"),
        ((SECTION, 0, 3, tmp_path), "shard 0 of 3"),
        ((SECTION, 4, 3, tmp_path), "shard 4 of 3"),
        ((SECTION, 1, 10**9, tmp_path), "at most"),
        ((SECTION, 1, 3, tmp_path, "huge"), "a scale is"),
    ]:
        with pytest.raises(fracas.FracasError, match=why):
            fracas.measure_shard(*arguments)
    assert fracas.merge_shards([tmp_path / "none"], tmp_path / "out") == []
    assert main([SECTION, "--shards", "0", "--out", str(tmp_path / "o")]) == 1
    assert "at least one" in capsys.readouterr().err
