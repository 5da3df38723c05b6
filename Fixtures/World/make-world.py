"""Makes world.json from the facts of the Python package countryinfo 1.0.1 (MIT).

    pip install countryinfo==1.0.1
    python3 make-world.py

What the package gets wrong is corrected here, in the open: every rule says why it is there, and what it leaves out or
changes is printed as a count. Running it again gives the same bytes.
"""

import glob
import json
import math
import os
import unicodedata

import countryinfo

# States that no longer exist; their successors are in the data.
DISSOLVED = {"AN", "CS"}

# Borders that only one of the two sides names and that no map shows. Every other one-sided border is real: the other
# side gets it too. Serbia and Albania meet only in Kosovo, which the package does not have.
NOT_BORDERS = {("IRN", "KWT"), ("BTN", "MMR"), ("SSD", "TCD"), ("AFG", "IND"), ("ALB", "SRB")}

# Suriname meets French Guiana, which is a country of its own in this data.
BORDER_CORRECTIONS = {("SUR", "FRA"): "GUF", ("BRA", "FRA"): "GUF"}

# Names of time zones that are islands, regions or stations, not cities.
NOT_CITIES = set(
    "McMurdo Casey Davis DumontDUrville Mawson Palmer Rothera Syowa Troll Vostok Lord_Howe Macquarie Lindeman "
    "Andorra Anguilla Antigua Aruba Bahrain Barbados Belize Bermuda Bahia Noronha Chagos Brunei Cape_Verde Cayman "
    "Easter Christmas Cocos Comoro Rarotonga Costa_Rica Curacao Dominica Galapagos El_Salvador Faroe Fiji Tahiti "
    "Marquesas Gambier Kerguelen Gibraltar Thule Grenada Guadeloupe Guam Guatemala Guernsey Guyana Vatican Jamaica "
    "Jersey Enderbury Kiritimati Kuwait Macau Maldives Malta Isle_of_Man Majuro Kwajalein Martinique Mauritius "
    "Mayotte Bahia_Banderas Chuuk Pohnpei Kosrae Monaco Montserrat Nauru Chatham Niue Norfolk Saipan Palau "
    "Bougainville Pitcairn Madeira Azores Puerto_Rico Qatar Reunion Sakhalin Kamchatka St_Barthelemy St_Helena "
    "St_Kitts St_Lucia Miquelon St_Vincent San_Marino Mahe Lower_Princes Guadalcanal South_Georgia Canary Tongatapu "
    "Grand_Turk Johnston Midway Wake Efate Tortola St_Thomas Wallis Luxembourg Hong_Kong Tarawa Singapore Djibouti "
    "Panama".split()
)

# Claimed by two countries.
DISPUTED_ZONES = {"Europe/Simferopol"}

# Time zones are spelled in ASCII, some by older names.
CITY_NAMES = {
    "Araguaina": "Araguaína", "Asuncion": "Asunción", "Belem": "Belém", "Bogota": "Bogotá", "Busingen": "Büsingen",
    "Cancun": "Cancún", "Cordoba": "Córdoba", "Cuiaba": "Cuiabá", "Eirunepe": "Eirunepé", "Godthab": "Nuuk",
    "Kiev": "Kyiv", "Maceio": "Maceió", "Mazatlan": "Mazatlán", "Merida": "Mérida",
    "Rangoon": "Yangon", "Rio_Gallegos": "Río Gallegos", "Santarem": "Santarém", "Sao_Paulo": "São Paulo",
    "Scoresbysund": "Ittoqqortoormiit", "St_Johns": "St. John's", "Tirane": "Tirana",
    "Tucuman": "San Miguel de Tucumán", "Uzhgorod": "Uzhhorod", "Zaporozhye": "Zaporizhzhia", "Zurich": "Zürich",
}

# Units of account in the package's currencies: nobody pays with them.
NOT_MONEY = {"BOV", "CHE", "CHW", "CLF", "USN", "USS", "UYI"}

# Codes that mean another language, or none: Serbian is sr; Aruba speaks Papiamento (pap), not Punjabi (pa).
LANGUAGE_CORRECTIONS = {("RS", "rs"): "sr", ("AW", "pa"): "pap"}

LANGUAGES = dict(
    af="Afrikaans", am="Amharic", ar="Arabic", ay="Aymara", az="Azerbaijani", be="Belarusian", bg="Bulgarian",
    bi="Bislama", bn="Bengali", bs="Bosnian", ca="Catalan", ch="Chamorro", cnr="Montenegrin", cs="Czech", da="Danish",
    de="German", dv="Dhivehi", dz="Dzongkha", el="Greek", en="English", es="Spanish", et="Estonian", fa="Persian",
    ff="Fula", fi="Finnish", fj="Fijian", fo="Faroese", fr="French", ga="Irish", gn="Guarani", gv="Manx", he="Hebrew",
    hi="Hindi", hr="Croatian", ht="Haitian Creole", hu="Hungarian", hy="Armenian", id="Indonesian", it="Italian",
    ja="Japanese", ka="Georgian", kg="Kongo", kk="Kazakh", kl="Greenlandic", km="Khmer", ko="Korean", ku="Kurdish",
    ky="Kyrgyz", la="Latin", lb="Luxembourgish", ln="Lingala", lo="Lao", lt="Lithuanian", lu="Luba-Katanga",
    lv="Latvian", mg="Malagasy", mh="Marshallese", mi="Māori", mk="Macedonian", mn="Mongolian", ms="Malay",
    mt="Maltese", my="Burmese", na="Nauruan", nb="Norwegian Bokmål", nd="Northern Ndebele", ne="Nepali", nl="Dutch",
    nn="Norwegian Nynorsk", no="Norwegian", nr="Southern Ndebele", ny="Chichewa", oc="Occitan", pap="Papiamento",
    pl="Polish", ps="Pashto", pt="Portuguese", qu="Quechua", rn="Kirundi", ro="Romanian", ru="Russian",
    rw="Kinyarwanda", sg="Sango", si="Sinhala", sk="Slovak", sl="Slovene", sm="Samoan", sn="Shona", so="Somali",
    sq="Albanian", sr="Serbian", ss="Swazi", st="Southern Sotho", sv="Swedish", sw="Swahili", ta="Tamil", tg="Tajik",
    th="Thai", ti="Tigrinya", tk="Turkmen", tn="Tswana", to="Tongan", tr="Turkish", ts="Tsonga", uk="Ukrainian",
    ur="Urdu", uz="Uzbek", ve="Venda", vi="Vietnamese", xh="Xhosa", zh="Chinese", zu="Zulu",
) | {"is": "Icelandic"}

MODEL = {
    "Continent": {
        "attributes": {"name": {"type": "string", "unique": True}},
        "relationships": {
            "countries": {
                "destination": "Country", "toMany": True, "inverse": "continent", "deleteRule": "deny"},
        },
    },
    "Country": {
        "attributes": {
            "code": {"type": "string", "unique": True, "preservesValueInHistoryOnDeletion": True},
            "code3": {"type": "string"},
            "name": {"type": "string", "indexed": True, "preservesValueInHistoryOnDeletion": True},
            "nativeName": {"type": "string", "optional": True},
            "demonym": {"type": "string", "optional": True},
            "subregion": {"type": "string", "optional": True},
            "population": {"type": "integer64", "optional": True, "indexed": True},
            "area": {"type": "double", "optional": True},
            "latitude": {"type": "double", "optional": True},
            "longitude": {"type": "double", "optional": True},
        },
        "relationships": {
            "continent": {"destination": "Continent", "inverse": "countries"},
            "capital": {"destination": "City", "inverse": "capitalOf"},
            "cities": {"destination": "City", "toMany": True, "inverse": "country", "deleteRule": "cascade"},
            "languages": {"destination": "Language", "toMany": True, "inverse": "countries"},
            "currencies": {"destination": "Currency", "toMany": True, "inverse": "countries"},
            "neighbours": {"destination": "Country", "toMany": True, "inverse": "neighbours"},
        },
    },
    "City": {
        "attributes": {
            "name": {"type": "string", "indexed": True, "preservesValueInHistoryOnDeletion": True},
            "timeZone": {"type": "string", "optional": True},
            "latitude": {"type": "double", "optional": True},
            "longitude": {"type": "double", "optional": True},
        },
        "relationships": {
            "country": {"destination": "Country", "inverse": "cities"},
            "capitalOf": {"destination": "Country", "inverse": "capital"},
        },
    },
    "Language": {
        "attributes": {"code": {"type": "string", "unique": True}, "name": {"type": "string"}},
        "relationships": {"countries": {"destination": "Country", "toMany": True, "inverse": "languages"}},
    },
    "Currency": {
        "attributes": {"code": {"type": "string", "unique": True}},
        "relationships": {"countries": {"destination": "Country", "toMany": True, "inverse": "currencies"}},
    },
}

left_out = {}


def note(what, *details):
    left_out.setdefault(what, []).append(" ".join(details))


def reference(entity, key):
    return {"@ref": f"{entity}/{key}"}


def folded(name):
    """A name without accents, punctuation and case, to tell that Bogotá is the city of America/Bogota."""
    letters = unicodedata.normalize("NFD", name.lower())
    return "".join(c for c in letters if c.isalpha() and not unicodedata.combining(c))


def package_countries():
    """One record for each ISO code: of two with the same code, the one with more facts."""
    best = {}
    folder = os.path.join(os.path.dirname(countryinfo.__file__), "data")
    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        with open(path, encoding="utf-8") as file:
            record = json.load(file)
        code = record["ISO"]["alpha2"]
        if code in DISSOLVED:
            note("states that no longer exist", record["name"])
            continue
        if code in best:
            note("second records of a country", record["name"])
            if facts(record) <= facts(best[code]):
                continue
        best[code] = record
    return dict(sorted(best.items()))


def facts(record):
    return sum(1 for value in record.values() if value)


def number(value):
    return value if value else None


def text(value):
    return value.strip("\u200e\u200f ") if value else None


def neighbours_of(countries):
    """Land borders by two-letter code, each known to both sides."""
    by_code3 = {record["ISO"]["alpha3"]: code for code, record in countries.items()}
    neighbours = {code: set() for code in countries}
    for code, record in countries.items():
        code3 = record["ISO"]["alpha3"]
        for other in record.get("borders") or []:
            other = BORDER_CORRECTIONS.get((code3, other), other)
            other = countries[other]["ISO"]["alpha3"] if other in countries else other  # "IT" for "ITA"
            if tuple(sorted((code3, other))) in NOT_BORDERS:
                note("borders that are none", code3, other)
            elif other not in by_code3:
                note("borders with an unknown code", code3, other)
            else:
                neighbours[code].add(by_code3[other])
    for code, others in neighbours.items():
        for other in sorted(others):
            if code not in neighbours[other]:
                note("borders that one side did not know", other, code)
                neighbours[other].add(code)
    return neighbours


def distance(first, second):
    """Kilometres on the sphere."""
    (a, b), (c, d) = [tuple(map(math.radians, place)) for place in (first, second)]
    cosine = math.sin(a) * math.sin(c) + math.cos(a) * math.cos(c) * math.cos(b - d)
    return 6371 * math.acos(max(-1, min(1, cosine)))


def capital_place(record):
    """The capital's coordinates, unless they are those of its namesake on another continent."""
    place = record.get("capital_latlng") or []
    if len(place) != 2 or not all(isinstance(part, (int, float)) for part in place):
        return None
    centre = record.get("latlng") or []
    if len(centre) == 2 and distance(place, centre) > 900 + math.sqrt(record.get("area") or 0):
        note("capitals with the coordinates of another place", record["capital"], record["name"])
        return None
    return place


def capital_names(record):
    capital = record.get("capital")
    if isinstance(capital, list):
        capital = capital[0]
    return [name.strip() for name in (capital or "").split(" / ") if name.strip()]


def cities_of(code, record):
    """The capital first, then the cities that gave a time zone of the country its name."""
    zones = [zone for zone in record.get("timezoneNames") or [] if zone not in DISPUTED_ZONES]
    names = capital_names(record)
    cities = []
    for name in names:
        place = capital_place(record) if name == names[0] else None
        zone = zones[0] if len(zones) == 1 else None
        cities.append(city(code, name, zone, place))
    for zone in zones:
        last = zone.split("/")[-1]
        if last in NOT_CITIES:
            note("time zones not named after a city", zone)
            continue
        name = CITY_NAMES.get(last, last.replace("_", " "))
        known = [c for c in cities if folded(c["name"]) == folded(name)]
        if known:
            known[0]["timeZone"] = zone
        else:
            cities.append(city(code, name, zone, None))
    return cities


def city(code, name, zone, place):
    made = {"@id": f"City/{code}-{name}", "name": name, "country": reference("Country", code)}
    if zone:
        made["timeZone"] = zone
    if place:
        made["latitude"], made["longitude"] = place
    return made


def country(code, record, cities, neighbours, languages, currencies):
    centre = record.get("latlng") or []
    capital = cities[0]["@id"] if capital_names(record) else None
    made = {
        "@id": f"Country/{code}",
        "code": code,
        "code3": record["ISO"]["alpha3"],
        "name": record["name"],
        "nativeName": text(record.get("nativeName")),
        "demonym": text(record.get("demonym")),
        "subregion": record.get("subregion") or None,
        "population": number(record.get("population")),
        "area": number(record.get("area")),
        "latitude": centre[0] if len(centre) == 2 else None,
        "longitude": centre[1] if len(centre) == 2 else None,
        "continent": reference("Continent", record["region"]) if record.get("region") else None,
        "capital": {"@ref": capital} if capital else None,
        "languages": [reference("Language", each) for each in languages],
        "currencies": [reference("Currency", each) for each in currencies],
        "neighbours": [reference("Country", each) for each in sorted(neighbours)],
    }
    return {key: value for key, value in made.items() if value not in (None, [])}


def languages_of(code, record):
    return [LANGUAGE_CORRECTIONS.get((code, each), each) for each in record.get("languages") or []]


def currencies_of(record):
    money = []
    for each in record.get("currencies") or []:
        if each in NOT_MONEY:
            note("currencies nobody pays with", each)
        else:
            money.append(each)
    return money


def world():
    countries = package_countries()
    neighbours = neighbours_of(countries)
    objects, cities = [], []
    continents, languages, currencies = set(), set(), set()
    for code, record in countries.items():
        own_cities = cities_of(code, record)
        own_languages, own_currencies = languages_of(code, record), currencies_of(record)
        cities += own_cities
        continents |= {record["region"]} - {"", None}
        languages |= set(own_languages)
        currencies |= set(own_currencies)
        objects.append(country(code, record, own_cities, neighbours[code], own_languages, own_currencies))
    return (
        [{"@id": f"Continent/{name}", "name": name} for name in sorted(continents)]
        + [{"@id": f"Language/{code}", "code": code, "name": LANGUAGES[code]} for code in sorted(languages)]
        + [{"@id": f"Currency/{code}", "code": code} for code in sorted(currencies)]
        + objects
        + cities
    )


def links(objects):
    values = [value for each in objects for value in each.values()]
    single = sum(1 for value in values if isinstance(value, dict))
    return single + sum(len(value) for value in values if isinstance(value, list))


def write(objects, path):
    def line(value):
        return json.dumps(value, ensure_ascii=False)

    with open(path, "w", encoding="utf-8") as file:
        file.write('{\n"model": ' + json.dumps({"entities": MODEL}, indent=2) + ',\n"objects": [\n')
        file.write(",\n".join(line(each) for each in objects))
        file.write("\n]\n}\n")


objects = world()
assert len({each["@id"] for each in objects}) == len(objects)
write(objects, os.path.join(os.path.dirname(os.path.abspath(__file__)), "world.json"))
for what, details in left_out.items():
    print(f"{len(details):4} {what}: {'; '.join(details)}")
kinds = {}
for each in objects:
    kinds[each["@id"].split("/")[0]] = kinds.get(each["@id"].split("/")[0], 0) + 1
print(f"{len(objects)} objects ({', '.join(f'{count} {kind}' for kind, count in kinds.items())}), {links(objects)} links")
