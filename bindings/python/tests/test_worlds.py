"""Worlds: falling, breaking, coming to rest, and going back."""

import signal
import threading
import time

import numpy as np
import pytest

import fracas


@pytest.fixture(scope="module")
def brick():
    return fracas.Blueprint("brick", modes=12)


def falling(brick, **options):
    world = fracas.World(step=0.01, length_unit=0.05, event_impulse=0.01)
    world.add_floor()
    turn = [0.3, 0.2, 0.1, 0.9]
    world.add(brick, [0, brick.lift(turn) + 0.01, 0], turn, velocity=[0, -9, 0], **options)
    return world


def test_a_brick_falls_breaks_and_comes_to_rest(brick):
    world = falling(brick, max_pieces=8)
    whole = float(world.masses().sum())
    assert whole == pytest.approx(brick.mass, rel=1e-5)
    assert world.settle(10.0)
    kinds = [event["kind"] for event in world.events()]
    assert kinds.count("broke") == 1 and kinds.count("born") >= 2 and "contact" in kinds
    assert not world.events(), "they are told once"
    names, places, turns = world.poses()
    assert 2 <= len(names) <= 8 and places.shape == (len(names), 3)
    assert np.allclose(np.linalg.norm(turns, axis=1), 1, atol=1e-5)
    assert world.masses().sum() == pytest.approx(whole, rel=1e-4)
    assert world.energy() < whole * 9.81 * 0.2 and world.moving == 0 and world.bodies_lost == 0
    contacts = world.contacts()
    count = len(contacts["points"])
    assert count and all(len(values) == count for values in contacts.values())
    floor = (contacts["first"] == 2**32 - 1).all(axis=1) | (contacts["second"] == 2**32 - 1).all(axis=1)
    assert floor.any()
    assert world.deepest_overlap() < 0.01

    broken = world.broken(0)
    assert sorted(broken.fragments) == sorted(names[:, 1])
    assert broken.masses.sum() == pytest.approx(whole, rel=1e-4)
    # The centre of each piece, taken along, is inside it in the world too.
    for piece, (name, place, turn) in zip(broken.pieces, zip(names.tolist(), places, turns)):
        assert piece.fragment == name[1]
        u, w = turn[:3], turn[3]
        corner = piece.positions[0]
        at = corner + 2 * np.cross(u, np.cross(u, corner) + w * corner) + place
        distance, _ = world.signed_distance([at], tuple(name))
        assert abs(distance[0]) < 1e-5


def test_restored_worlds_go_on_with_the_same_bits(brick):
    world = falling(brick)
    world.step(3)
    saved = world.snapshot()
    world.step(60)
    digest, pieces = world.digest(), len(world.pieces)
    world.restore(saved)
    assert len(world.pieces) <= pieces
    world.step(60)
    assert world.digest() == digest
    damaged = bytearray(saved)
    damaged[100] ^= 1
    with pytest.raises(fracas.FracasError, match="damaged"):
        world.restore(bytes(damaged))
    assert world.digest() == digest
    with pytest.raises(fracas.FracasError, match="no snapshot"):
        world.restore(b"something else")


def test_threads_change_nothing(brick):
    digests = set()
    for threads in (None, 1, 3):
        world = fracas.World(step=0.01, length_unit=0.05, threads=threads)
        world.add_floor()
        for i in range(4):
            world.add(brick, [0.05 * i, 0.3 + 0.2 * i, 0], velocity=[0, -8, 0], seed=i)
        world.step(60)
        digests.add(world.digest())
    assert len(digests) == 1


def test_balls_hit_and_patterns_break(brick):
    world = fracas.World(step=0.01, length_unit=0.05)
    world.add_floor()
    world.add(brick, [0, brick.lift([0, 0, 0, 1]), 0], breakable=False)
    children = world.break_piece((0, 0), "voronoi", 6, seed=1)
    assert len(children) == 6 == len(world.pieces)
    more = world.break_piece(children[0], "slices", 2)
    assert len(more) == 2 and len(world.pieces) == 7
    assert world.remove(more[0]) and not world.remove(more[0])
    ball = world.add_ball(0.03, [0, 0.5, 0], [0, -10, 0])
    places, _ = world.balls()
    assert ball == 0 and places[0, 1] == pytest.approx(0.5)
    world.step(30)
    places, _ = world.balls()
    assert places[0, 1] < 0.4
    with pytest.raises(IndexError):
        world.break_piece((0, 999))
    with pytest.raises(IndexError):
        world.push((3, 0), [0, 1, 0])


def test_fixed_things_stay(brick):
    world = fracas.World()
    world.add(brick, [0, 3, 0], fixed=True)
    world.step(20)
    assert world.poses()[1][0, 1] == 3


def test_ctrl_c_ends_a_run_between_steps(brick):
    world = falling(brick, breakable=False)

    def interrupt():
        time.sleep(0.2)
        signal.raise_signal(signal.SIGINT)

    timer = threading.Thread(target=interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        world.step(10_000_000)
    timer.join()
    done = world.steps
    world.step()
    assert world.steps == done + 1 > 1, "the world is whole"


def test_many_threads_may_ask_one_world(brick):
    world = falling(brick)
    errors = []

    def ask():
        try:
            for _ in range(30):
                world.poses(), world.energy(), world.contacts(), world.step()
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not errors and world.steps == 120
