"""Pools and Ray clusters: the same bytes, nothing lost or doubled when workers die, no more
tries than said, no more under way than said.
"""

import os
import signal
import threading
import time

import pytest
from conftest import COUNT, files

from fracas import dataset
from fracas.cluster import AGAIN, AHEAD, on_pool, on_ray
from fracas.dataset import run, store

DEADLY = 5


def die_of_five(log, portion):
    """Notes every number it begins; one of them kills the worker."""
    for number in portion:
        with open(log, "a") as lines:
            lines.write(f"{number}\n")
        if number == DEADLY:
            os.kill(os.getpid(), signal.SIGKILL)
    return portion


def check_that_only_one_dies(do, log):
    """Whatever the number that kills is in company of, it alone is given up, after a bounded
    number of tries.
    """
    given_up = []
    portions = [[1, 2, 3], [4, 5, 6], [7, 8], [9], [10, 11, 12]]
    done = [n for portion in do(portions, given_up.append) if portion for n in portion]
    assert given_up == [[DEADLY]]
    assert sorted(done) == [n for n in range(1, 13) if n != DEADLY], "none lost, none twice"
    deaths = log.read_text().split().count(str(DEADLY))
    assert 2 <= deaths <= 2 * AGAIN, deaths


def check_back_pressure(do, workers):
    """Portions are drawn as there is room for them, not before."""
    drawn = returned = most = 0

    def portions():
        nonlocal drawn
        for number in range(40):
            drawn += 1
            yield [number]

    for _ in do(portions(), lambda portion: pytest.fail(f"{portion} died")):
        most = max(most, drawn - returned)
        returned += 1
    assert returned == drawn == 40
    # The last draw may find nothing.
    assert workers <= most <= AHEAD * workers, most


def wait_a_little(_, portion):
    time.sleep(0.01)
    return portion


def test_a_pool_gives_up_only_what_kills_its_worker(tmp_path):
    log = tmp_path / "log"
    check_that_only_one_dies(lambda p, g: on_pool(die_of_five, str(log), p, 2, g), log)


def test_a_pool_has_few_portions_under_way():
    check_back_pressure(lambda p, g: on_pool(wait_a_little, None, p, 2, g), 2)


def test_samples_whose_worker_died_are_tried_again(made, shapes, settings, tmp_path):
    """A failure that may have had nothing to do with the sample is not for ever."""
    out = tmp_path / "set"
    dataset.make(shapes, 3, out, settings, processes=1, progress=None)
    job = run.Job(None, [], str(out))
    number = min(store.numbers(out, "samples"))
    store.at(out).remove(store.row_name("samples", number))
    store.save_failure(job, number, "its worker died", lost=True)
    dataset.make(shapes, COUNT, out, settings, processes=1, progress=None)
    assert files(out) == files(made)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_ray_gives_the_same_bytes(made, shapes, settings, tmp_path, cluster, nodes, count):
    import ray

    nodes(count)
    assert ray.cluster_resources()["CPU"] == count
    dataset.make(shapes, COUNT, tmp_path / "set", settings, ray=cluster.address, progress=None)
    assert files(tmp_path / "set") == files(made)


def test_a_killed_node_loses_nothing(
    made, shapes, settings, tmp_path, cluster, nodes, monkeypatch
):
    """A node is killed, with its workers, when one has made half of a portion; the portion is
    made elsewhere.
    """
    import ray

    there = nodes(3)
    log = tmp_path / "log"
    log.mkdir()

    def note_and_make(job, portion):
        # Of the worker, where it is not replaced.
        from fracas.dataset.run import make_portion

        node = ray.get_runtime_context().get_node_id()
        made, failed = make_portion(job, portion[:1])
        (log / f"{node}.{portion[0]}.half").write_text(str(os.getpid()))
        # Long enough to be seen.
        time.sleep(0.5)
        others = make_portion(job, portion[1:])
        (log / f"{node}.{portion[0]}.done").touch()
        return made + others[0], failed + others[1]

    monkeypatch.setattr(run, "make_portion", note_and_make)
    monkeypatch.setattr(run, "PORTION", 2)
    killed = {}

    def kill():
        """Kills the first node that is in the middle of a portion."""
        while not killed:
            done = {path.stem for path in log.glob("*.done")}
            busy = [path for path in log.glob("*.half") if path.stem not in done]
            pids = [(path, path.read_text()) for path in busy]
            for path, pid in pids:
                if not pid:
                    continue
                name, portion = path.stem.split(".")
                victim = next(node for node in there if node.node_id == name)
                process = victim.all_processes["raylet"][0].process
                process.kill()
                os.kill(int(pid), signal.SIGKILL)
                cluster.remove_node(victim, allow_graceful=False)
                whole = len(store.numbers(tmp_path / "set", "samples"))
                finished = path.with_suffix(".done").exists()
                killed.update(node=name, portion=portion, signal=-process.wait())
                killed.update(samples=whole, finished=finished)
                return
            time.sleep(0.005)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    counts = dataset.make(
        shapes, COUNT, tmp_path / "set", settings, ray=cluster.address, progress=None
    )
    killer.join(timeout=30)
    assert killed["signal"] == signal.SIGKILL, "the node was killed"
    assert not killed["finished"], "before it had finished its portion"
    assert killed["samples"] < counts["samples"], "in the middle of the run"
    again = {path.stem.split(".")[0] for path in log.glob(f"*.{killed['portion']}.half")}
    assert len(again) == 2 and killed["node"] in again, "another node made the portion"
    assert counts["samples"] + counts["failed"] == COUNT
    assert files(tmp_path / "set") == files(made), "nothing lost, nothing doubled"


def test_ray_gives_up_only_what_kills_its_worker(cluster, nodes, tmp_path):
    nodes(2)
    log = tmp_path / "log"
    check_that_only_one_dies(
        lambda p, g: on_ray(die_of_five, str(log), p, cluster.address, g), log
    )


def test_ray_has_few_portions_under_way(cluster, nodes):
    workers = len(nodes(2))
    check_back_pressure(
        lambda p, g: on_ray(wait_a_little, None, p, cluster.address, g), workers
    )
