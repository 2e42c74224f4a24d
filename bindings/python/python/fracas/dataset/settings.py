"""What is drawn for each sample: distributions, from TOML."""

from __future__ import annotations

import hashlib
import json
from importlib import resources
from pathlib import Path
from typing import Any

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

from .. import Random, material

EVENTS = ("drop", "hit", "pattern")
PATTERNS = ("voronoi", "slices", "radial", "conchoidal")
ORIENTATIONS = ("any", "upright")


class SettingsError(ValueError):
    """A key or a value of the settings makes no sense."""


def draw(rule: Any, chance: Random) -> Any:
    """One value of a distribution."""
    if not isinstance(rule, dict):
        return rule
    if "uniform" in rule:
        return chance.uniform(*rule["uniform"])
    if "log_uniform" in rule:
        return chance.log_uniform(*rule["log_uniform"])
    if "integers" in rule:
        low, high = rule["integers"]
        return low + chance.below(high - low + 1)
    if "normal" in rule:
        low, high = rule["between"]
        return min(max(chance.normal(*rule["normal"]), low), high)
    choices = rule["choice"]
    weights = rule.get("weights") or [1] * len(choices)
    place = chance.uniform(0.0, float(sum(weights)))
    for value, weight in zip(choices, weights):
        place -= weight
        if place < 0.0:
            return value
    return choices[-1]


class _Checker:
    """Checks values, and says which key is at fault."""

    def __init__(self, source: str) -> None:
        self.source = source

    def fail(self, key: str, why: str) -> None:
        raise SettingsError(f"{self.source}: `{key}`: {why}")

    def numbers(self, rule: Any, key: str, low: float, high: float, whole: bool = False) -> None:
        kinds = (int,) if whole else (int, float)

        def check(value: Any) -> None:
            if isinstance(value, bool) or not isinstance(value, kinds):
                self.fail(key, f"must be a {'whole ' if whole else ''}number, not {value!r}")
            if not low <= value <= high:
                self.fail(key, f"must be from {low} to {high}, not {value}")

        self.values(rule, key, check, numeric=True)

    def words(self, rule: Any, key: str, allowed: tuple[str, ...] | None) -> None:
        def check(value: Any) -> None:
            if not isinstance(value, str):
                self.fail(key, f"must be a word, not {value!r}")
            if allowed is not None and value not in allowed:
                self.fail(key, f"must be one of {', '.join(allowed)}, not {value}")

        self.values(rule, key, check, numeric=False)

    def values(self, rule: Any, key: str, check: Any, numeric: bool) -> None:
        if not isinstance(rule, dict):
            check(rule)
            return
        kind = [k for k in ("uniform", "log_uniform", "integers", "normal", "choice") if k in rule]
        extra = set(rule) - set(kind) - {"weights", "between"}
        if len(kind) != 1 or extra:
            self.fail(key, "must be a value or one of uniform, log_uniform, integers, normal, choice")
        (kind,) = kind
        given = rule[kind]
        if not isinstance(given, list):
            self.fail(key, f"{kind} needs a list")
        if kind == "choice":
            if not given:
                self.fail(key, "there is nothing to choose from")
            for value in given:
                check(value)
            weights = rule.get("weights", [1] * len(given))
            good = len(weights) == len(given) and all(
                isinstance(w, (int, float)) and w >= 0 for w in weights
            )
            if not good or sum(weights) <= 0:
                self.fail(key, "weights must be as many as choices, not negative, and not all zero")
            return
        if not numeric or len(given) != 2:
            self.fail(key, f"{kind} needs two numbers")
        if kind == "normal":
            between = rule.get("between")
            if not isinstance(between, list) or len(between) != 2:
                self.fail(key, "normal needs between = [low, high]")
            given = between
        for value in given:
            check(value)
        if given[0] > given[1]:
            self.fail(key, f"{given[0]} is above {given[1]}")
        if kind == "log_uniform" and given[0] <= 0:
            self.fail(key, "log_uniform needs numbers above 0")
        if kind == "integers" and not all(isinstance(v, int) for v in given):
            self.fail(key, "integers needs whole numbers")


class Settings:
    """What is drawn for each sample. See `default.toml` beside this file."""

    def __init__(self, values: dict[str, Any], source: str = "settings") -> None:
        merged = _defaults()
        for key, value in values.items():
            if key not in merged:
                raise SettingsError(f"{source}: there is no key `{key}`")
            if key in EVENTS:
                if not isinstance(value, dict):
                    raise SettingsError(f"{source}: `{key}` must be a table")
                for inner, rule in value.items():
                    if inner not in merged[key]:
                        raise SettingsError(f"{source}: there is no key `{key}.{inner}`")
                    merged[key][inner] = rule
            else:
                merged[key] = value
        self.values = merged
        self._check(_Checker(source))

    @classmethod
    def read(cls, path: str | Path | None = None) -> Settings:
        """Reads a TOML file; without one, the defaults."""
        if path is None:
            return cls({})
        try:
            values = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise SettingsError(f"{path}: {error}") from None
        return cls(values, str(path))

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    def text(self) -> str:
        """All values, in one order."""
        return json.dumps(self.values, indent=2, sort_keys=True) + "\n"

    def key(self) -> str:
        """Names the settings."""
        return hashlib.sha256(self.text().encode()).hexdigest()[:16]

    def _check(self, check: _Checker) -> None:
        v = self.values
        if not isinstance(v["name"], str) or not v["name"].replace("-", "").replace("_", "").isalnum():
            check.fail("name", "must be a word of letters, digits, - and _")
        if v["format"] not in ("obj", "glb"):
            check.fail("format", "must be obj or glb")
        if v["skin"] not in ("auto", "model", "draped", "tets"):
            check.fail("skin", "must be auto, model, draped or tets")
        for key, low, high in (
            ("seed", 0, 2**63),
            ("tets", 50, 1_000_000),
            ("modes", 1, 1000),
            ("variants", 1, 10_000),
            ("least_pieces", 1, 1000),
            ("tries", 1, 1000),
        ):
            if isinstance(v[key], dict):
                check.fail(key, "is the same for all samples: give a number")
            check.numbers(v[key], key, low, high, whole=True)
        for key, low, high in (("step", 1e-4, 0.05), ("duration", 0.0, 600.0)):
            if isinstance(v[key], dict):
                check.fail(key, "is the same for all samples: give a number")
            check.numbers(v[key], key, low, high)
        check.numbers(v["size"], "size", 1e-3, 100.0)
        check.numbers(v["pieces"], "pieces", 2, 10_000, whole=True)
        check.words(v["event"], "event", EVENTS)
        check.words(v["material"], "material", None)
        for name in v["material"]["choice"] if isinstance(v["material"], dict) else [v["material"]]:
            try:
                material(name)
            except ValueError as error:
                check.fail("material", str(error))
        for event in EVENTS:
            check.words(v[event]["orientation"], f"{event}.orientation", ORIENTATIONS)
            check.numbers(v[event]["friction"], f"{event}.friction", 0.0, 10.0)
        check.numbers(v["drop"]["height"], "drop.height", 0.0, 80.0)
        check.numbers(v["hit"]["radius"], "hit.radius", 1e-3, 10.0)
        check.numbers(v["hit"]["speed"], "hit.speed", 0.0, 40.0)
        check.words(v["pattern"]["kind"], "pattern.kind", PATTERNS)
        check.numbers(v["pattern"]["height"], "pattern.height", 0.0, 100.0)


def _defaults() -> dict[str, Any]:
    text = resources.files(__package__).joinpath("default.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
