"""Data sets: the same bytes however they are made, whole after a kill, honest about failures."""

import io
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from conftest import COUNT, files

import fracas
from fracas import dataset
from fracas.dataset import store
from fracas.dataset.run import Progress
from fracas.dataset.settings import Settings, SettingsError, draw
from fracas.dataset.show import load_pieces

pq = pytest.importorskip("pyarrow.parquet")


def test_samples_are_whole_and_told_of(made):
    table = pq.read_table(made / "samples.parquet")
    rows = table.to_pylist()
    assert [row["id"] for row in rows] == [row["id"] for row in dataset.rows(made)]
    kinds = {row["event"]["kind"] for row in rows}
    assert kinds >= {"drop", "pattern"}, kinds
    check_rows(made, rows)


def test_balls_break_plates(settings, tmp_path):
    text = settings.read_text().replace('["drop", "hit", "pattern"]', '["hit"]')
    (tmp_path / "hits.toml").write_text(text)
    plate = tmp_path / "shapes"
    plate.mkdir()
    fracas.shape("plate").save(plate / "plate.msh")
    counts = dataset.make(plate, 3, tmp_path / "set", tmp_path / "hits.toml", processes=1, progress=None)
    assert counts["samples"] >= 2
    check_rows(tmp_path / "set", list(dataset.rows(tmp_path / "set")))


def check_rows(made, rows):
    for row in rows:
        pieces = load_pieces(made, row)
        assert len(pieces) == row["pieces"] == len(row["mass"]) == len(row["pose_after"]) >= 2
        density = fracas.material(row["material"])["density"]
        whole = 0.0
        for (positions, triangles), volume, mass in zip(pieces, row["volume"], row["mass"]):
            a, b, c = (positions[triangles[:, i]] for i in range(3))
            enclosed = np.einsum("ij,ij->", a, np.cross(b, c)) / 6
            # What is seen is the model, what weighs are its tetrahedra, which are coarser: a
            # small piece is mostly outside.
            assert enclosed == pytest.approx(volume, rel=1e-1)
            whole += enclosed
            assert mass == pytest.approx(volume * density)
        assert whole == pytest.approx(sum(row["volume"]), rel=5e-2)
        assert row["graph"] and all(
            0 <= edge["a"] < edge["b"] < row["pieces"] and edge["area"] > 0 for edge in row["graph"]
        )
        touched = {edge[end] for edge in row["graph"] for end in ("a", "b")}
        assert touched == set(range(row["pieces"])), "every piece had a neighbour"
        # What is large lies on the floor, not under it. (Crumbs may be pressed into it.)
        for (positions, _), pose, mass in zip(pieces, row["pose_after"], row["mass"]):
            if mass < 0.05 * sum(row["mass"]):
                continue
            turn, w = np.array(pose["rotation"][:3]), pose["rotation"][3]
            moved = positions + 2 * np.cross(turn, np.cross(turn, positions) + w * positions)
            assert (moved + pose["position"])[:, 1].min() > -0.05 * row["size"]


def test_bad_shapes_are_listed_and_stop_nothing(made):
    listed = (made / "bad_shapes.csv").read_text().splitlines()
    assert {line.split(",")[1] for line in listed[1:]} == {"garbage", "open"}
    card = (made / "README.md").read_text()
    assert "4 given, 2 not usable" in card and "fracas" in card


def test_the_layout_is_breaking_bads(made):
    """As the loader of the Breaking Bad benchmark reads it: every file of a folder whose name
    holds `fractured` is a piece, and lists name the shapes.
    """
    trimesh = pytest.importorskip("trimesh")
    found = 0
    for part in ("train", "val"):
        for mesh in (made / f"fracas.{part}.txt").read_text().split():
            assert (made / mesh).is_dir()
            for fracture in os.listdir(made / mesh):
                assert "fractured" in fracture or "mode" in fracture
                parts = sorted(os.listdir(made / mesh / fracture))
                pieces = [trimesh.load(made / mesh / fracture / p, process=False) for p in parts]
                assert len(pieces) >= 2 and all(len(p.faces) for p in pieces)
                assert all(p.is_watertight for p in pieces)
                points = trimesh.sample.sample_surface(pieces[0], 100)[0]
                assert points.shape == (100, 3)
                found += 1
    assert found == len(list(dataset.rows(made)))


def test_a_pool_gives_the_same_bytes(made, shapes, settings, tmp_path):
    dataset.make(shapes, COUNT, tmp_path / "set", settings, processes=2, progress=None)
    assert files(tmp_path / "set") == files(made)


def test_a_part_gives_the_same_samples(made, shapes, settings, tmp_path):
    dataset.make(shapes, 3, tmp_path / "set", settings, first=5, processes=1, progress=None)
    whole, part = files(made), files(tmp_path / "set")
    samples = [name for name in part if name.startswith(("samples/", "fracas/", "failed/"))]
    assert samples and all(part[name] == whole[name] for name in samples)


def test_shapes_of_one_name_are_not_mixed_up(settings, tmp_path):
    """One process makes two data sets, whose shapes have the same name."""
    filled = []
    for name in ("brick", "ball"):
        folder = tmp_path / name
        folder.mkdir()
        fracas.shape(name).boundary().save(folder / "thing.obj")
        dataset.make(folder, 1, tmp_path / f"{name}-set", settings, processes=1, progress=None)
        row = next(dataset.rows(tmp_path / f"{name}-set"))
        filled.append(sum(row["volume"]) / row["size"] ** 3)
    # Of the cube around it: half of the ball, a third or less of the brick.
    assert filled[0] < 0.4 < filled[1], filled


def test_a_killed_run_goes_on(made, shapes, settings, tmp_path):
    """Kills a pool at random moments until nothing is left to do."""
    out = tmp_path / "set"
    command = [sys.executable, "-m", "fracas.dataset", "make", "--shapes", shapes]
    command += ["--count", COUNT, "--out", out, "--settings", settings, "--processes", "2"]
    command = [str(word) for word in command]
    seen = 0
    kills = 0
    for attempt in range(30):
        run = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        # Long enough to make a sample or more, never the same.
        deadline = time.monotonic() + 60
        wanted = min(COUNT, seen + 1)
        done = lambda: len(store.numbers(out, "samples") | store.numbers(out, "failed"))
        while run.poll() is None and time.monotonic() < deadline and done() < wanted:
            time.sleep(0.013)
        if run.poll() is None and done() < COUNT:
            time.sleep(0.017 * attempt % 0.1)
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
            kills += 1
            for row in dataset.rows(out):
                # What counts is whole.
                assert all((out / name).exists() for name in row["files"])
                assert len(load_pieces(out, row)) == row["pieces"]
            assert done() >= seen, "nothing is lost"
            seen = done()
        else:
            assert run.wait() == 0
            break
    # Twice of a possible thirteen: how many samples a run makes before it is killed depends
    # on the machine.
    assert kills >= 2, "it was killed, and more than once"
    assert files(out) == files(made)


def test_ctrl_c_ends_a_pool_at_once(shapes, settings, tmp_path):
    out = tmp_path / "set"
    command = [sys.executable, "-m", "fracas.dataset", "make", "--shapes", shapes]
    command += ["--count", 500, "--out", out, "--settings", settings, "--processes", "2"]
    run = subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    while run.poll() is None and not store.numbers(out, "samples"):
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    start = time.monotonic()
    said = run.communicate(timeout=60)[1]
    assert run.returncode == 130 and "goes on from here" in said, said
    assert time.monotonic() - start < 20
    assert len(store.numbers(out, "samples")) < 500


def test_glb_holds_the_same_pieces(shapes, settings, tmp_path):
    text = settings.read_text() + 'format = "glb"\nskin = "tets"\n'
    (tmp_path / "glb.toml").write_text(text)
    counts = dataset.make(shapes, 2, tmp_path / "set", tmp_path / "glb.toml", processes=1, progress=None)
    assert counts["samples"]
    for row in dataset.rows(tmp_path / "set"):
        assert row["files"][0].endswith("pieces.glb")
        pieces = load_pieces(tmp_path / "set", row)
        assert len(pieces) == row["pieces"]
        for (positions, triangles), volume in zip(pieces, row["volume"]):
            a, b, c = (positions[triangles[:, i]].astype(float) for i in range(3))
            assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6 == pytest.approx(volume, rel=1e-2)


def test_show_writes_a_sheet_and_a_page(made):
    sheet, page = dataset.show(made, 2)
    assert sheet.read_bytes().startswith(b"\x89PNG") and sheet.stat().st_size > 10_000
    text = page.read_text()
    assert "contact_sheet.png" in text and "garbage" in text and text.count("<svg") >= 8
    sheet.unlink(), page.unlink()
    with pytest.raises(FileNotFoundError):
        dataset.show(made.parent)


def test_one_folder_holds_one_set(made, shapes):
    with pytest.raises(SettingsError, match="other settings"):
        dataset.make(shapes, 1, made, Settings({"tets": 301}), progress=None)


@pytest.mark.parametrize(
    "text, key",
    [
        ("tets = 'many'", "tets"),
        ("nonsense = 1", "nonsense"),
        ("[drop]\nheigth = 1.0", "drop.heigth"),
        ("[drop]\nheight = -1.0", "drop.height"),
        ("[drop]\nheight = { uniform = [2.0, 1.0] }", "drop.height"),
        ("[drop]\nheight = { log_uniform = [0.0, 1.0] }", "drop.height"),
        ("material = 'jelly'", "jelly"),
        ("event = { choice = ['drop'], weights = [1, 2] }", "event"),
        ("event = { choice = [] }", "event"),
        ("pieces = { integers = [1, 9] }", "pieces"),
        ("size = { gaussian = [1, 2] }", "size"),
        ("[hit]\nspeed = { normal = [1.0, 2.0] }", "hit.speed"),
        ("format = 'stl'", "format"),
        ("= 5", "line 1"),
    ],
)
def test_settings_that_make_no_sense_are_named(tmp_path, text, key):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(SettingsError, match=key):
        Settings.read(path)


def test_distributions_stay_in_their_bounds():
    chance = fracas.Random(1)
    for rule, low, high in [
        ({"uniform": [2.0, 3.0]}, 2, 3),
        ({"log_uniform": [0.1, 10.0]}, 0.1, 10),
        ({"integers": [4, 6]}, 4, 6),
        ({"normal": [0.0, 5.0], "between": [-1.0, 2.0]}, -1, 2),
    ]:
        values = [draw(rule, chance) for _ in range(2000)]
        assert min(values) >= low and max(values) <= high
        assert max(values) - min(values) > 0.9 * (high - low)
    words = [draw({"choice": ["a", "b"], "weights": [1, 3]}, chance) for _ in range(4000)]
    assert 2800 < words.count("b") < 3200
    assert draw(7, chance) == 7


def test_progress_tells_rate_and_time_left():
    now = [0.0]
    out = io.StringIO()
    progress = Progress(100, 20, out, clock=lambda: now[0])
    now[0] = 36.0
    progress.add(9, 1)
    assert progress.text() == "30 of 100, 1000 an hour, 0:04:12 left, 1 failed"
    assert out.getvalue().strip() == progress.text()


def test_the_command_says_what_is_wrong(tmp_path):
    command = [sys.executable, "-m", "fracas.dataset", "make", "--count", "1", "--out", str(tmp_path / "o")]
    done = subprocess.run([*command, "--shapes", str(tmp_path / "no")], capture_output=True, text=True)
    assert done.returncode == 1 and "there is no folder" in done.stderr
    assert "Traceback" not in done.stderr
    done = subprocess.run([*command, "--shapes", str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 1 and "no mesh file" in done.stderr
