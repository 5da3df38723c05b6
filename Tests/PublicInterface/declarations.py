#!/usr/bin/env python3
"""Prints the public declarations of a module, one a line and sorted, from its symbol graphs: declarations.py FOLDER

Members have their type before them. A requirement of a protocol has the word "protocol" before its type's name, and a conformance or
a superclass is a line of its own, as adding or removing one changes what a program may rely on.
"""
import json
import pathlib
import sys

# What every type has, or follows from being Sendable.
IMPLIED = {"SendableMetatype", "Copyable", "Escapable"}


def text(fragments):
    return " ".join("".join(part["spelling"] for part in fragments).split())


def constraints(symbol):
    """The where clause of the extension that a member is in."""
    signs = {"conformance": ":", "superclass": ":", "sameType": "=="}
    parts = [f"{one['lhs']} {signs[one['kind']]} {one['rhs']}".replace(" :", ":")
             for one in symbol.get("swiftExtension", {}).get("constraints", [])]
    return " where " + ", ".join(sorted(parts)) if parts else ""


def member(symbol, required):
    parent = ".".join(symbol["pathComponents"][:-1])
    declaration = ("open " if symbol["accessLevel"] == "open" else "") + text(symbol["declarationFragments"])
    if not parent:
        return declaration
    kind = "protocol " if symbol["identifier"]["precise"] in required else ""
    return f"{kind}{parent}{constraints(symbol)}: {declaration}"


def inherited(relationship, names):
    source = names.get(relationship["source"])
    target = names.get(relationship["target"], relationship.get("targetFallback", "").split(".", 1)[-1])
    if not source or not target or target in IMPLIED:
        return None
    clause = ", ".join(sorted(f"{one['lhs']}: {one['rhs']}" for one in relationship.get("swiftConstraints", [])))
    return f"extension {source}: {target}" + (f" where {clause}" if clause else "")


def declarations(folder):
    graphs = [json.loads(path.read_text()) for path in sorted(pathlib.Path(folder).glob("*.symbols.json"))]
    symbols = [symbol for graph in graphs for symbol in graph["symbols"]]
    relationships = [one for graph in graphs for one in graph["relationships"]]
    names = {symbol["identifier"]["precise"]: ".".join(symbol["pathComponents"]) for symbol in symbols
             if symbol["kind"]["identifier"] != "swift.extension"}
    required = {one["source"] for one in relationships if one["kind"] == "requirementOf"}
    lines = {member(symbol, required) for symbol in symbols if symbol["kind"]["identifier"] != "swift.extension"}
    lines |= {inherited(one, names) for one in relationships if one["kind"] in ("conformsTo", "inheritsFrom")}
    return sorted(line for line in lines if line)


print("\n".join(declarations(sys.argv[1])))
