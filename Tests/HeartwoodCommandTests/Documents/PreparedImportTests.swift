import Heartwood
import Foundation
import Testing

@testable import HeartwoodCommand

private let model = """
  {"entities": {
    "Place": {"abstract": true, "attributes": {"name": {"type": "string"}}},
    "Country": {"superentity": "Place", "attributes": {"population": {"type": "integer64", "optional": true}},
      "relationships": {"cities": {"destination": "City", "toMany": true, "inverse": "country"}}},
    "City": {"superentity": "Place", "attributes": {"code": {"type": "integer16", "default": 7}},
      "relationships": {"country": {"destination": "Country", "inverse": "cities"}, "near": {"destination": "Place"}}}
  }}
  """

private func prepared(_ objects: String) throws -> PreparedImport {
  let document = try ImportDocument(Array(#"{"model": \#(model), "objects": \#(objects)}"#.utf8))
  return try PreparedImport(document, model: #require(document.model))
}

@Test func `objects are checked and their references found, forward and backward`() throws {
  let prepared = try prepared(
    """
    [{"@id": "City/P", "name": "Paris", "country": {"@ref": "Country/FR"}, "near": {"@ref": "City/P"}},
     {"@id": "Country/FR", "name": "France", "population": null, "cities": [{"@ref": "City/P"}]},
     {"@entity": "City", "name": "Nowhere", "country": null}]
    """)
  #expect(prepared.objects.map(\.entity) == ["City", "Country", "City"])
  #expect(prepared.objects[0].links.map(\.name) == ["country", "near"])
  #expect(prepared.objects[0].links.map(\.destinations) == [[1], [0]])
  #expect(prepared.objects[1].links == [])
  #expect(prepared.objects[1].attributes.map(\.name) == ["name", "population"])
  #expect(prepared.referenceCount == 3)
}

@Test(arguments: [
  (
    #"[{"@id": "Country/FR", "name": "F", "population": "x"}]"#,
    #"objects[0].population: expected an integer, found "x""#
  ),
  (
    #"[{"@id": "Country/FR", "name": "F", "population": 1.5}]"#,
    "objects[0].population: expected an integer, found 1.5"
  ),
  (
    #"[{"@id": "Country/FR", "name": "F", "population": true}]"#,
    "objects[0].population: expected an integer, found true"
  ),
  (
    #"[{"@id": "Country/FR", "name": "F", "population": 9223372036854775808}]"#,
    "objects[0].population: 9223372036854775808 does not fit into 64 bits"
  ),
  (#"[{"@id": "City/P", "name": "P", "code": 40000}]"#, "objects[0].code: 40000 does not fit into 16 bits"),
  (#"[{"@id": "City/P", "name": 5}]"#, "objects[0].name: expected a string, found 5"),
  (#"[{"@id": "City/P"}]"#, "objects[0].name: a value is missing, and City.name is not optional"),
  (
    #"[{"@id": "City/P", "name": null}]"#,
    "objects[0].name: a value is missing, and City.name is not optional"
  ),
  (
    #"[{"@id": "City/P", "name": "P", "nmae": 1}]"#,
    #"objects[0].nmae: City has no property "nmae", did you mean name?"#
  ),
  (#"[{"@id": "Village/P"}]"#, #"objects[0]: the model has no entity "Village""#),
  (#"[{"@id": "Place/P"}]"#, "objects[0]: Place is abstract; an object needs one of its subentities"),
  (
    #"[{"@id": "City/P", "name": "P", "country": {"@ref": "Country/XX"}}]"#,
    #"objects[0].country: nothing in this file has the @id "Country/XX"; add that object to it, "#
      + "as Country has no unique attribute to find one of the store by"
  ),
  (
    #"[{"@id": "City/P", "name": "P", "country": {"@ref": "City/P"}}]"#,
    #"objects[0].country: "City/P" is no Country"#
  ),
  (
    #"[{"@id": "City/P", "name": "P", "country": "FR"}]"#,
    #"objects[0].country: expected a reference such as {"@ref": "Country/..."}, found "FR""#
  ),
  (
    #"[{"@id": "Country/F", "name": "F", "cities": {"@ref": "City/P"}}]"#,
    "objects[0].cities: expected a list of references, found a reference"
  ),
  (
    #"[{"@id": "City/P", "name": "P"}, {"@id": "City/P", "name": "Q"}]"#,
    #"objects[1]: objects[0] has the @id "City/P", too"#
  ),
  (
    #"[{"@id": "City/P", "name": "P", "country": {"@ref": "Country/F"}}, {"@id": "Country/F", "name": "F"}, {"@id": "Country/G", "name": "G", "cities": [{"@ref": "City/P"}]}]"#,
    #"objects[0].country: leads to both "Country/F" and "Country/G"; its inverse cities counts, too"#
  ),
  (#"[{"name": "P"}]"#, #"objects[0]: "@id" is missing, such as "Country/FR""#),
  (
    #"[{"@id": "Paris"}]"#,
    #"objects[0].@id: expected an entity and a key such as "Country/FR", found "Paris""#
  ),
  (
    #"[{"@id": "City/P", "@entity": "Country"}]"#,
    #"objects[0].@id: its entity is not "Country", its @entity"#
  ),
  (#"[{"@id": "City/P", "@key": 1}]"#, #"objects[0]: unknown member "@key"; there are @id and @entity"#),
  (#"[5]"#, "objects[0]: expected an object, found 5"),
  (#"{}"#, "objects: expected a list, found an object"),
])
func `an invalid object is refused with the place and the reason`(objects: String, message: String) {
  #expect(failure { _ = try prepared(objects) } == message)
}

@Test func `a link named on either side or on both is created once`() throws {
  let model = """
    {"entities": {
      "A": {"relationships": {"peers": {"destination": "A", "toMany": true, "inverse": "peers"},
                              "list": {"destination": "B", "toMany": true, "ordered": true, "inverse": "a"},
                              "tags": {"destination": "B", "toMany": true, "inverse": "tagged"}}},
      "B": {"relationships": {"a": {"destination": "A", "inverse": "list"},
                              "tagged": {"destination": "A", "toMany": true, "inverse": "tags"}}}}}
    """
  let objects = """
    [{"@id": "A/0", "peers": [{"@ref": "A/1"}, {"@ref": "A/1"}], "list": [{"@ref": "B/3"}]},
     {"@id": "A/1", "peers": [{"@ref": "A/0"}], "tags": [{"@ref": "B/2"}]},
     {"@id": "B/2", "a": {"@ref": "A/0"}},
     {"@id": "B/3", "a": {"@ref": "A/0"}, "tagged": [{"@ref": "A/0"}, {"@ref": "A/1"}]}]
    """
  let document = try ImportDocument(Array(#"{"model": \#(model), "objects": \#(objects)}"#.utf8))
  let links = try PreparedImport(document, model: #require(document.model)).objects.map(\.links)
  #expect(
    links == [
      [
        .init(name: "list", isToMany: true, destinations: [3, 2]),
        .init(name: "peers", isToMany: true, destinations: [1]),
        .init(name: "tags", isToMany: true, destinations: [3]),
      ],
      [
        .init(name: "peers", isToMany: true, destinations: [0]),
        .init(name: "tags", isToMany: true, destinations: [2, 3]),
      ],
      [], [],
    ])
}

@Test func `the world fixture fits its model`() throws {
  let document = try ImportDocument(InputFile.read(Fixture.path("World/world.json")))
  let prepared = try PreparedImport(document, model: #require(document.model))
  #expect(prepared.objects.count == 934)
  #expect(prepared.referenceCount == 2135)
}

private func value(_ json: JSONValue, _ type: DocumentType) throws -> any Sendable {
  try AttributeReading.value(of: JSONPlace(path: "x", value: json), as: type)
}

@Test func `attribute values are read exactly`() throws {
  #expect(try value(.integer(-5), .integer32) as? Int32 == -5)
  #expect(try value(.fraction(2, text: "2.0"), .integer64) as? Int64 == 2)
  #expect(try value(.integer(3), .double) as? Double == 3)
  #expect(try (value(.string("NaN"), .double) as? Double)?.isNaN == true)
  #expect(try value(.fraction(0.1, text: "0.1"), .decimal) as? Decimal == Decimal(string: "0.1"))
  #expect(
    try value(.string("12345678901234567890.123456789"), .decimal) as? Decimal
      == Decimal(string: "12345678901234567890.123456789"))
  #expect(try value(.string("1970-01-01T00:00:01Z"), .date) as? Date == Date(timeIntervalSince1970: 1))
  #expect(
    try value(.string("1970-01-01T02:00:01.5+02:00"), .date) as? Date == Date(timeIntervalSince1970: 1.5))
  #expect(try value(.string("1970-01-02"), .date) as? Date == Date(timeIntervalSince1970: 86400))
  #expect(try value(.string("AQID"), .data) as? Data == Data([1, 2, 3]))
  #expect(try value(.string("https://a.b/c"), .uri) as? URL == URL(string: "https://a.b/c"))
  let uuid = "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"
  #expect(try value(.string(uuid), .uuid) as? UUID == UUID(uuidString: uuid))
}

@Test(arguments: [
  (DocumentType.date, JSONValue.string("yesterday")), (.date, .bool(true)), (.data, .string("?")),
  (.uuid, .string("1-2")), (.decimal, .string("1,5")), (.decimal, .string("")),
  (.float, .fraction(1e300, text: "1e300")),
  (.boolean, .integer(1)), (.double, .string("1")), (.double, .bool(true)),
])
func `attribute values of another kind are refused`(type: DocumentType, json: JSONValue) {
  #expect(failure { _ = try value(json, type) }.hasPrefix("x: "))
}
