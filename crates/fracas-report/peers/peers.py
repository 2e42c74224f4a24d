"""Other people's programs on the report's input.

usage: python peers.py QUESTION PEER INPUT.json

Prints one line of JSON: the peer's numbers, or {"error": why}. Times are processor
milliseconds of the process. Each peer is asked in a process of its own, so that one
that is missing or crashes takes no other with it.

| question | input | peers |
| --- | --- | --- |
| mesh | two triangle meshes, the second's offset | coal, fcl |
| ipctk | one mesh at the start and the end of a step | ipctk |
| fresh | bodies that have just broken apart, over a floor | mujoco, pybullet, physx, ovphysx |
| tets | a closed surface | ftetwild |
"""

import json
import sys

import common

MODULES = {"mesh": "meshes", "ipctk": "meshes", "fresh": "engines", "tets": "tets"}


def main():
    question, peer, path = sys.argv[1:4]
    try:
        module = __import__(MODULES[question])
        answer = getattr(module, peer)(common.read(path))
    except Exception as error:  # told, not fatal
        answer = {"error": f"{type(error).__name__}: {error}"}
    print("\n" + json.dumps(answer))


if __name__ == "__main__":
    main()
