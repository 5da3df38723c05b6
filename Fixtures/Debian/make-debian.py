#!/usr/bin/env python3
"""Makes a document for `heartwood import` from Debian's list of packages.

    apt-cache dumpavail | python3 make-debian.py > debian.json
    apt-cache dumpavail | python3 make-debian.py --closure-of bash > bash.json

A package, maintainer or section is an object; so is each dependency, of one package on another. Of a package with several versions the
last one counts. Dependencies on virtual packages lead to the packages that provide them; what no package of the list provides is left out.
"""

import argparse
import json
import re
import sys

RELATIONS = ["Pre-Depends", "Depends", "Recommends", "Suggests", "Enhances"]
ALTERNATIVE = re.compile(r"^([a-z0-9][a-z0-9+.-]*)(?::\w+)?\s*(?:\(([^)]*)\))?")

MODEL = {
    "Section": {
        "attributes": {"name": {"type": "string", "unique": True}},
        "relationships": {"packages": {"destination": "Package", "toMany": True, "inverse": "section"}},
    },
    "Maintainer": {
        "attributes": {
            "address": {"type": "string", "unique": True},
            "name": {"type": "string", "indexed": True},
        },
        "relationships": {"packages": {"destination": "Package", "toMany": True, "inverse": "maintainer"}},
    },
    "Package": {
        "attributes": {
            "name": {"type": "string", "unique": True},
            "version": {"type": "string"},
            "architecture": {"type": "string"},
            "priority": {"type": "string", "indexed": True},
            "summary": {"type": "string", "optional": True},
            "homepage": {"type": "string", "optional": True},
            "installedSize": {"type": "integer64", "optional": True, "indexed": True},
            "size": {"type": "integer64", "indexed": True},
            "isEssential": {"type": "boolean"},
        },
        "relationships": {
            "section": {"destination": "Section", "inverse": "packages"},
            "maintainer": {"destination": "Maintainer", "inverse": "packages"},
            "dependencies": {
                "destination": "Dependency", "toMany": True, "inverse": "package", "deleteRule": "cascade",
            },
            "dependents": {
                "destination": "Dependency", "toMany": True, "inverse": "target", "deleteRule": "cascade",
            },
        },
    },
    "Dependency": {
        "attributes": {
            "kind": {"type": "string", "indexed": True},
            "version": {"type": "string", "optional": True},
            "isAlternative": {"type": "boolean"},
        },
        "relationships": {
            "package": {"destination": "Package", "inverse": "dependencies"},
            "target": {"destination": "Package", "inverse": "dependents"},
        },
    },
}


def records(lines):
    """The records of a control file, each a dictionary of its fields' first lines and continuations."""
    record, field = {}, None
    for line in lines:
        line = line.rstrip("\n")
        if not line:
            if record:
                yield record
            record, field = {}, None
        elif line[0] in " \t":
            if field:
                record[field] += "\n" + line.strip()
        else:
            field, _, text = line.partition(":")
            record[field] = text.strip()
    if record:
        yield record


def providers(packages):
    """The packages that provide a name, themselves first."""
    found = {name: [name] for name in packages}
    for name, record in packages.items():
        for part in record.get("Provides", "").split(","):
            match = ALTERNATIVE.match(part.strip())
            if match and name not in found.setdefault(match[1], []):
                found[match[1]].append(name)
    return found


def dependencies(record, provided):
    """The dependencies of a package: kind, target, version and whether another would do instead."""
    seen = set()
    for kind in RELATIONS:
        for clause in record.get(kind, "").replace("\n", " ").split(","):
            alternatives = [ALTERNATIVE.match(text.strip()) for text in clause.split("|")]
            targets = [
                (target, match[2])
                for match in alternatives if match
                for target in provided.get(match[1], [])[:3]
            ]
            for target, version in targets:
                if (kind, target) not in seen:
                    seen.add((kind, target))
                    yield kind, target, version, len(targets) > 1


def closure(roots, packages, provided):
    """What packages need, directly or not."""
    needed, open_names = set(), list(roots)
    while open_names:
        name = open_names.pop()
        if name not in needed:
            needed.add(name)
            for kind, target, _, _ in dependencies(packages[name], provided):
                if kind in ("Pre-Depends", "Depends"):
                    open_names.append(target)
    return {name: record for name, record in packages.items() if name in needed}


def package(record, section, address):
    shown = {
        "@id": f"Package/{record['Package']}",
        "name": record["Package"],
        "version": record["Version"],
        "architecture": record.get("Architecture", "all"),
        "priority": record.get("Priority", "optional"),
        "size": int(record.get("Size", 0)),
        "isEssential": record.get("Essential") == "yes",
        "section": {"@ref": f"Section/{section}"},
        "maintainer": {"@ref": f"Maintainer/{address}"},
    }
    if record.get("Description"):
        shown["summary"] = record["Description"].split("\n")[0]
    if record.get("Homepage"):
        shown["homepage"] = record["Homepage"]
    if record.get("Installed-Size"):
        shown["installedSize"] = int(record["Installed-Size"])
    return shown


def objects(packages, provided):
    sections, maintainers, shown, links = set(), {}, [], []
    for name, record in sorted(packages.items()):
        section = record.get("Section", "unknown").rpartition("/")[2]
        who, _, address = record.get("Maintainer", "unknown").rpartition("<")
        address = address.rstrip(">").strip() or "unknown"
        sections.add(section)
        maintainers.setdefault(address, who.strip() or address)
        shown.append(package(record, section, address))
        for kind, target, version, is_alternative in dependencies(record, provided):
            if target in packages:
                link = {
                    "@id": f"Dependency/{len(links)}",
                    "kind": kind.lower(),
                    "isAlternative": is_alternative,
                    "package": {"@ref": f"Package/{name}"},
                    "target": {"@ref": f"Package/{target}"},
                }
                if version:
                    link["version"] = version
                links.append(link)
    yield from ({"@id": f"Section/{name}", "name": name} for name in sorted(sections))
    for address, name in sorted(maintainers.items()):
        yield {"@id": f"Maintainer/{address}", "address": address, "name": name}
    yield from shown
    yield from links


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--closure-of", nargs="+", metavar="PACKAGE", help="only these packages and what they need")
    arguments = parser.parse_args()
    packages = {record["Package"]: record for record in records(sys.stdin) if "Version" in record}
    provided = providers(packages)
    if arguments.closure_of:
        packages = closure(arguments.closure_of, packages, provided)
    counts = {}
    print('{\n"model": ' + json.dumps({"entities": MODEL}, indent=2) + ',\n"objects": [')
    separator = ""
    for each in objects(packages, provided):
        entity = each["@id"].split("/")[0]
        counts[entity] = counts.get(entity, 0) + 1
        print(separator + json.dumps(each, ensure_ascii=False, separators=(",", ":")), end="")
        separator = ",\n"
    print("\n]\n}")
    print(", ".join(f"{count} {entity}" for entity, count in counts.items()), file=sys.stderr)


main()
