"""The stub says what the module has, and everything has a word about what it does."""

import ast
import inspect
from pathlib import Path

import fracas
from fracas import _fracas


def stub():
    path = Path(fracas.__file__).with_name("_fracas.pyi")
    return ast.parse(path.read_text()).body


def parameters(function):
    """Names of the parameters, of a stub or of the module."""
    if isinstance(function, ast.FunctionDef):
        arguments = function.args
        return [a.arg for a in arguments.args + arguments.kwonlyargs if a.arg != "self"]
    return [name for name in inspect.signature(function).parameters if name != "self"]


def test_every_name_is_in_the_stub_and_the_other_way_round():
    told = {node.name for node in stub() if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    told -= {"Event", "WorldContacts", "VoxelContacts", "StepContacts"}  # types of dictionaries
    real = {name for name in dir(_fracas) if not name.startswith("_")}
    assert told == real == set(fracas.__all__) - {"__version__"}


def test_methods_and_parameters_agree():
    for node in stub():
        real = getattr(_fracas, getattr(node, "name", ""), None)
        if isinstance(node, ast.FunctionDef):
            assert parameters(node) == parameters(real), node.name
        elif isinstance(node, ast.ClassDef) and real is not None and node.name != "FracasError":
            methods = {f.name: f for f in node.body if isinstance(f, ast.FunctionDef)}
            have = {n for n in vars(real) if not n.startswith("_") or n in ("__len__", "__getitem__")}
            assert set(methods) - {"__init__"} == have, node.name
            for name, method in methods.items():
                decorators = {d.id for d in method.decorator_list if isinstance(d, ast.Name)}
                if "property" in decorators:
                    assert not callable(getattr(real, name)), (node.name, name)
                elif name == "__init__":
                    assert parameters(method) == parameters(real), node.name
                elif not name.startswith("__"):
                    assert parameters(method) == parameters(getattr(real, name)), (node.name, name)


def test_everything_has_a_docstring():
    for name in fracas.__all__:
        thing = getattr(fracas, name)
        if name == "__version__":
            continue
        assert thing.__doc__, name
        for member, value in vars(thing).items() if inspect.isclass(thing) else ():
            if not member.startswith("_") and name != "FracasError":
                assert value.__doc__ or getattr(value, "__func__", value).__doc__, (name, member)
