"""Stores to look at: hostile values, many rows, and one that is written."""
import base64
import json
import random
import struct
import zlib

HOSTILE = [
    "</script><script>document.title='owned'</script>", "\"><img src=x onerror=\"document.title='owned'\">",
    "javascript:document.title='owned'", "<svg onload=document.title='owned'>", "<iframe srcdoc='<b>x</b>'>",
    "\u202egnp.exe\u202c right to left override", "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd",
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645 123",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 family \U0001f1eb\U0001f1f7",
    "nul\u0000 and bell\u0007 and escape\u001b[31m red", "line one\nline two\ttabbed\r\nline three", "", "   spaces   ",
    "x" * 1_000_000, "Z" + "\u0351\u036b\u0343\u036a\u0302" * 8 + "algo",
    '{"name": "json", "list": [1, 2.5, null, true, {"deep": "</pre><b>"}]}', "'; DROP TABLE x; --",
    r"""{"id": 12345678901234567890, "price": 1.10, "huge": 1e400, "a": 1, "a": [], "2": {}, "1": -0, "é\u0041": 1}""",
    "{{constructor.constructor('alert(1)')()}}", "%3Cscript%3E&lt;b&gt;", "\ufeffbyte order mark\u200b and zero width", "\ufffd\uffff",
]


def image(width, height, red):
    rows = b"".join(
        b"\0" + bytes(value for x in range(width) for value in ((red + x * 3) % 256, (80 + y * 5) % 256, 160)) for y in range(height))

    def part(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")


def text(data):
    return base64.b64encode(data).decode()


def hostile():
    """A document with an object for each hostile text, and hostile files."""
    attributes = {
        "text": {"type": "string", "optional": True, "indexed": True}, "note": {"type": "string"},
        "picture": {"type": "data", "optional": True},
        "file": {"type": "data", "optional": True, "allowsExternalStorage": True},
        "when": {"type": "date", "optional": True, "indexed": True}, "amount": {"type": "decimal", "optional": True},
        "ratio": {"type": "double", "optional": True}, "big": {"type": "integer64", "optional": True},
        "flag": {"type": "boolean", "optional": True}, "key": {"type": "uuid", "optional": True},
        "link": {"type": "uri", "optional": True},
        # What every object of JavaScript has.
        "constructor": {"type": "string", "optional": True}, "__proto__": {"type": "string", "optional": True},
    }
    relationships = {
        "friend": {"destination": "Hostile"}, "many": {"destination": "Hostile", "toMany": True, "inverse": "owner"},
        "owner": {"destination": "Hostile", "inverse": "many"},
    }
    objects = []
    for number, value in enumerate(HOSTILE):
        made = {
            "@id": f"Hostile/{number}", "text": value, "note": f"case {number}",
            "when": ["2026-01-31T12:00:00Z", "0001-01-01T00:00:00Z", "1969-07-20T20:17:40.123456Z", None][number % 4],
            "amount": ["12345678901234567890.12", "-0.5", None][number % 3],
            "ratio": ["NaN", "Infinity", 0.1, -1e300][number % 4],
            "big": [9223372036854775807, -9223372036854775808, 0, 42][number % 4], "flag": [True, False, None][number % 3],
            "key": "E621E1F8-C36C-495A-93FC-0C247A3E6E5F" if number % 2 else None,
            "link": ["https://example.org/a?b=c", "javascript:alert(1)", "data:text/html,%3Cscript%3E", None][number % 4],
            "picture": text(image(64, 40, number * 9)) if number % 4 == 0 else
            text(b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>") if number % 4 == 1 else None,
            "file": text(image(300, 200, number * 5)) if number % 5 == 0 else None,
            "friend": {"@ref": f"Hostile/{number - 1}"} if number else None,
            "owner": {"@ref": "Hostile/0"} if number else None,
        }
        objects.append({name: value for name, value in made.items() if value is not None})
    model = {"entities": {"Hostile": {"attributes": attributes, "relationships": relationships}}}
    return json.dumps({"model": model, "objects": objects})


def write_many(path, rows, seed=20261129):
    """Writes a document with many readings of fifty stations."""
    numbers, words = random.Random(seed), "ash beech cedar elm fir hazel larch maple oak pine rowan spruce willow yew".split()
    model = {"entities": {
        "Station": {"attributes": {"name": {"type": "string", "unique": True}},
                    "relationships": {"readings": {"destination": "Reading", "toMany": True, "inverse": "station"}}},
        "Reading": {"attributes": {
            "code": {"type": "string", "indexed": True}, "value": {"type": "double", "indexed": True},
            "at": {"type": "date", "indexed": True}, "note": {"type": "string", "optional": True}, "rank": {"type": "integer32"}},
            "relationships": {"station": {"destination": "Station", "inverse": "readings"}}}}}
    with open(path, "w") as file:
        file.write('{"model": ' + json.dumps(model) + ', "objects": [\n')
        for number in range(50):
            file.write(json.dumps({"@id": f"Station/{number}", "name": f"{words[number % 14]} {number}"}) + ",\n")
        for number in range(rows):
            date = f"20{10 + number % 16:02}-{1 + number % 12:02}-{1 + number % 28:02}T{number % 24:02}:{number % 60:02}:00Z"
            reading = {
                "@id": f"Reading/{number}", "code": f"{words[number % 14]}-{(number * 7919) % 1000003:06}",
                "value": round(numbers.gauss(100, 30), 3), "at": date, "rank": number % 977,
                "station": {"@ref": f"Station/{number % 50}"},
            }
            if number % 3 == 0:
                reading["note"] = f"seen by {words[number % 11]}"
            file.write(json.dumps(reading) + ("\n" if number == rows - 1 else ",\n"))
        file.write("]}\n")
