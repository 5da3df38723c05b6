import Foundation
import Heartwood
import TestSupport
import Testing

@testable import HeartwoodCommand

private let document = #"""
  {"model": {"entities": {"Shop": {"attributes": {
    "name": {"type": "string"},
    "address": {"type": "composite", "optional": true, "elements": {
      "city": {"type": "string"}, "number": {"type": "integer32", "optional": true},
      "place": {"type": "composite", "optional": true, "elements": {
        "north": {"type": "double", "optional": true}, "seen": {"type": "date", "optional": true}}}}}}}}},
   "objects": [
    {"@id": "Shop/1", "name": "Baker",
     "address": {"city": "Lyon", "number": 4, "place": {"north": 45.5, "seen": "2024-01-31T12:00:00Z"}}},
    {"@id": "Shop/2", "name": "Grocer", "address": {"city": "Lille", "number": null}},
    {"@id": "Shop/3", "name": "Florist"}]}
  """#

/// A composite value that a program declares.
private struct Address: CompositeValue {
  var city = ""
  var number: Int32?
  var corner = Corner()

  static let elements = [
    CompositeElement("city", \Address.city), CompositeElement("number", \Address.number),
    CompositeElement("corner", \Address.corner),
  ]
}

private struct Corner: CompositeValue {
  var north = true

  static let elements = [CompositeElement("north", \Corner.north)]
}

private final class Customer: ManagedObject {
  @Attribute var name = ""
  @Attribute var home = Address()
  @Attribute var work: Address?
}

@Test func `a store of a program with composite values is exported and imported`() throws {
  let directory = try TemporaryFolder()
  let (path, copy) = (directory.path("a.heartwood"), directory.path("b.heartwood"))
  let container = try PersistentContainer(name: "A", types: [Customer.self], at: URL(filePath: path))
  let context = container.newBackgroundContext()
  let customer = Customer(context: context)
  (customer.name, customer.home) = ("Ada", Address(city: "Bern", number: 3))
  try context.save()
  try container.close()
  let exported = CommandRun("export", path)
  let imported = CommandRun("import", copy, try directory.file("a.json", exported.output))
  #expect(imported.status == .success, "\(imported.notes)")
  #expect(CommandRun("export", copy).output == exported.output)
  let model = try directory.file("m.json", CommandRun("schema", path, "--format", "json").output)
  let shown = CommandRun("model", model)
  #expect(shown.status == .success && shown.output == CommandRun("model", path).output, "\(shown.notes)")
  let again = try PersistentContainer(name: "A", types: [Customer.self], at: URL(filePath: copy))
  #expect(try again.newBackgroundContext().fetch(Customer.self).map(\.home.city) == ["Bern"])
  try again.close()
}

@Test func `composite values are read from objects, written as objects, and read back`() throws {
  let directory = try TemporaryFolder()
  let (path, copy) = (directory.path("a.heartwood"), directory.path("b.heartwood"))
  let imported = CommandRun("import", path, try directory.file("a.json", document))
  #expect(imported.status == .success, "\(imported.notes)")
  let classes = CommandRun("generate", path, "--public").output
  for line in [
    "@Attribute public var address: Address?", "public struct Address: CompositeValue {",
    "  public var city: String = \"\"", "  public var place: Place?",
    "    CompositeElement(\"city\", \\Address.city),",
    "public struct Place: CompositeValue {",
  ] {
    #expect(classes.contains(line + "\n"), "\(line) in \(classes)")
  }
  let json = CommandRun("fetch", path, "Shop", "--format", "json").output
  #expect(
    json == """
      [
      {"@id": "Shop/p1", "name": "Baker", "address": {"city": "Lyon", "number": 4, "place": {"north": 45.5, "seen": "2024-01-31T12:00:00Z"}}},
      {"@id": "Shop/p2", "name": "Grocer", "address": {"city": "Lille"}},
      {"@id": "Shop/p3", "name": "Florist", "address": null}
      ]

      """)
  let model = try directory.file("model.json", CommandRun("schema", path, "--format", "json").output)
  let again = CommandRun("import", copy, try directory.file("b.json", json), "--model", model)
  #expect(again.status == .success, "\(again.notes)")
  #expect(CommandRun("fetch", copy, "Shop", "--format", "json").output == json)
  #expect(CommandRun("schema", copy).output == CommandRun("schema", path).output)
}

@Test func `elements are columns and conditions by their full names`() throws {
  let directory = try TemporaryFolder()
  let path = directory.path("a.heartwood")
  _ = CommandRun("import", path, try directory.file("a.json", document))
  let run = CommandRun(
    "fetch", path, "Shop", "--where", "address.city BEGINSWITH 'L'", "--columns",
    "name,address.city,address.place.north", "--format", "csv")
  #expect(run.output == "name,address.city,address.place.north\nBaker,Lyon,45.5\nGrocer,Lille,\n")
  let wrong = CommandRun("fetch", path, "Shop", "--columns", "address.citty")
  #expect(wrong.notes.contains("there is no element \"citty\", did you mean city") || wrong.status == .usage)
  #expect(CommandRun("fetch", path, "Shop", "--where", "address != NIL").output.contains("{city: Lille}"))
}

@Test(arguments: [
  (#""Lyon""#, "objects[0].address: expected an object, found \"Lyon\""),
  (#"{"town": "Lyon"}"#, "objects[0].address.town: address has no element \"town\""),
  (#"{"city": 3}"#, "objects[0].address.city: expected a string, found 3"),
  (
    #"{"city": "Lyon", "place": {"north": "up"}}"#,
    "objects[0].address.place.north: expected a number, found \"up\""
  ),
])
func `a composite value that does not fit is refused with its place`(value: String, message: String) throws {
  let directory = try TemporaryFolder()
  let path = directory.path("a.heartwood")
  _ = CommandRun("import", path, try directory.file("a.json", document))
  let file = try directory.file("b.json", #"[{"@entity": "Shop", "name": "x", "address": \#(value)}]"#)
  let run = CommandRun("import", path, file)
  #expect(run.status == .dataError)
  #expect(run.notes.contains(message), "\(run.notes)")
}

private func model(_ elements: String, _ more: String = "") -> String {
  #"{"model": {"entities": {"Shop": {"attributes": {"name": {"type": "string"}, "address": {"type": "composite", "#
    + #""optional": true, "elements": {\#(elements)}}}\#(more)}}}, "objects": []}"#
}

@Test(arguments: [
  ("unique", "add [\"address.city\"] to \"uniquenessConstraints\" of the entity"),
  ("indexed", "add [\"address.city\"] to \"indexes\" of the entity"), ("transient", "leave it out"),
  ("allowsExternalStorage", "leave it out"),
])
func `an element of a composite attribute is refused what only attributes of entities can have`(
  member: String, advice: String
) throws {
  let directory = try TemporaryFolder()
  let file = try directory.file("a.json", model(#""city": {"type": "string", "\#(member)": true}"#))
  let run = CommandRun("import", directory.path("a"), file)
  #expect(run.status == .dataError && run.notes.contains("elements.city: \"\(member)\" is not for"))
  #expect(run.notes.contains(advice), "\(run.notes)")
}

@Test func `constraints, indexes and full-text indexes of elements have effect, and are written again`()
  throws
{
  let directory = try TemporaryFolder()
  let (path, copy) = (directory.path("a"), directory.path("b"))
  let text = model(
    #""city": {"type": "string", "fullText": true}, "zip": {"type": "integer32"}"#,
    #", "uniquenessConstraints": [["address.zip"]], "indexes": [["address.city"]]"#)
  #expect(CommandRun("import", path, try directory.file("a.json", text)).status == .success)
  let shop = #"{"@entity": "Shop", "name": "x", "address": {"city": "Old Town", "zip": 7}}"#
  let file = try directory.file("b.json", "[\(shop)]")
  #expect(CommandRun("import", path, file).status == .success)
  let again = CommandRun("import", path, file)
  #expect(again.status == .dataError && again.notes.contains("address.zip"), "\(again.notes)")
  let find = ["fetch", path, "Shop", "--where", "address.city MATCHESWORDS 'town'"]
  #expect(CommandRun(find).output.contains("Old Town"))
  let schema = CommandRun("schema", path, "--format", "json").output
  #expect(schema.contains(#""fullText": true"#), "\(schema)")
  let exported = try directory.file("c.json", CommandRun("export", path).output)
  #expect(CommandRun("import", copy, exported).status == .success)
  #expect(CommandRun("schema", copy, "--format", "json").output == schema)
}

@Test func `a new composite value has the defaults of the elements that the file does not name`() throws {
  let directory = try TemporaryFolder()
  let (path, copy) = (directory.path("a"), directory.path("b"))
  let text = #"""
    {"model": {"entities": {"Shop": {"attributes": {
       "home": {"type": "composite", "elements": {"x": {"type": "double", "default": 2.5}}},
       "address": {"type": "composite", "optional": true, "elements": {
         "city": {"type": "string", "default": "Bern"},
         "number": {"type": "integer32", "optional": true, "default": 4},
         "place": {"type": "composite", "elements": {"north": {"type": "double", "default": 1.5}}},
         "other": {"type": "composite", "optional": true, "elements": {"south": {"type": "double", "default": 1.5}}}}}}}}},
     "objects": [
       {"@id": "Shop/1", "address": {}},
       {"@id": "Shop/2", "address": {"city": null, "number": null, "place": {"north": 2}, "other": {}}},
       {"@id": "Shop/3"}]}
    """#
  let run = CommandRun("import", path, try directory.file("a.json", text))
  #expect(run.status == .success, "\(run.notes)")
  let shown = CommandRun("fetch", path, "Shop", "--columns", "home,address", "--format", "json").output
  #expect(
    shown == """
      [
      {"home": {"x": 2.5}, "address": {"city": "Bern", "number": 4, "place": {"north": 1.5}}},
      {"home": {"x": 2.5}, "address": {"city": "Bern", "number": null, "other": {"south": 1.5}, "place": {"north": 2}}},
      {"home": {"x": 2.5}, "address": null}
      ]

      """)
  let exported = try directory.file("b.json", CommandRun("export", path).output)
  #expect(CommandRun("import", copy, exported).status == .success)
  #expect(CommandRun("fetch", copy, "Shop", "--columns", "home,address", "--format", "json").output == shown)
}

@Test(arguments: [("derived", "\"name\""), ("allowsExternalStorage", "true")])
func `a composite attribute is refused what its elements cannot have`(_ member: String, _ value: String)
  throws
{
  let directory = try TemporaryFolder()
  let model = try directory.file(
    "m.json",
    #"""
    {"entities": {"E": {"attributes": {"name": {"type": "string"},
      "h": {"type": "composite", "elements": {"x": {"type": "string"}}, "\#(member)": \#(value)}}}}}
    """#)
  let run = CommandRun("model", model)
  #expect(run.status == .dataError)
  #expect(run.notes.contains("h: \"\(member)\" is not for a composite attribute"), "\(run.notes)")
}

@Test func `composite attributes are refused where more than sixteen are one in the other`() throws {
  let directory = try TemporaryFolder()
  for depth in 16...17 {
    var attribute = #"{"type": "double", "optional": true}"#
    for _ in 1..<depth {
      attribute = #"{"type": "composite", "optional": true, "elements": {"x": \#(attribute)}}"#
    }
    let file = try directory.file("\(depth).json", model(#""x": \#(attribute)"#))
    let run = CommandRun("import", directory.path("\(depth)"), file)
    #expect((run.status == .success) == (depth == 16), "\(run.notes)")
    #expect(run.notes.contains("is in 16 composite attributes, one in the other") == (depth == 17))
  }
}

@Test func `objects are found by unique elements of composite attributes, in JSON and CSV`() throws {
  let directory = try TemporaryFolder()
  let path = directory.path("a")
  let text = #"""
    {"model": {"entities": {
       "Person": {"attributes": {"home": {"type": "composite", "elements": {"zip": {"type": "integer32"}}}},
         "uniquenessConstraints": [["home.zip"]]},
       "Shop": {"attributes": {"name": {"type": "string"}}, "relationships": {"owner": {"destination": "Person"}}}}},
     "objects": [{"@entity": "Person", "home": {"zip": 7}},
       {"@entity": "Shop", "name": "a", "owner": {"@find": {"home.zip": 7}}}]}
    """#
  let made = CommandRun("import", path, try directory.file("a.json", text))
  #expect(made.status == .success, "\(made.notes)")
  let csv = try directory.file("Shop.csv", "name,owner.home.zip\nb,7\n")
  let imported = CommandRun("import", path, csv)
  #expect(imported.status == .success, "\(imported.notes)")
  let rows = CommandRun("fetch", path, "Shop", "--columns", "name,owner.home.zip", "--format", "csv")
  #expect(rows.output == "name,owner.home.zip\na,7\nb,7\n")
  for (find, message) in [
    (
      #"{"home": {"zip": 7}}"#,
      #"Person.home is composite; objects are found by its elements, such as {"home.zip": ...}"#
    ),
    (#"{"home.zap": 7}"#, "Person has no attribute \"home.zap\", did you mean home.zip?"),
  ] {
    let file = try directory.file(
      "b.json", #"[{"@entity": "Shop", "name": "c", "owner": {"@find": \#(find)}}]"#)
    let run = CommandRun("import", path, file)
    #expect(run.status == .dataError && run.notes.contains(message), "\(run.notes)")
  }
}

private let nestedDefaults = #"""
  {"model": {"entities": {"Shop": {"attributes": {
     "name": {"type": "string", "unique": true},
     "home": {"type": "composite", "optional": true, "elements": {
       "zip": {"type": "string", "default": "Z"}, "no": {"type": "integer32", "optional": true, "default": 7},
       "geo": {"type": "composite", "optional": true, "elements": {
         "lat": {"type": "double", "optional": true}, "lon": {"type": "double", "optional": true, "default": 1.5}}}}}},
     "relationships": {"next": {"destination": "Shop", "optional": true}}}}},
   "objects": [
     {"@id": "Shop/1", "name": "a", "home": {"geo": {"lat": 1, "lon": 2}}, "next": {"@ref": "Shop/2"}},
     {"@id": "Shop/2", "name": "b", "home": {"zip": "B", "no": null, "geo": {"lon": null}}},
     {"@id": "Shop/3", "name": "c"}]}
  """#

@Test(arguments: [
  (
    ["--columns", "h=home.geo"],
    [#"{"h": {"lat": 1, "lon": 2}}"#, #"{"h": {"lon": null}}"#, #"{"h": null}"#]
  ),
  (
    ["--columns", "h=next.home.geo", "--where", "next != nil"], [#"{"h": {"lon": null}}"#]
  ),
  (
    ["--distinct", "--columns", "home.geo"],
    [#"{"home.geo": {"lat": 1, "lon": 2}}"#, #"{"home.geo": {"lon": null}}"#, #"{"home.geo": null}"#]
  ),
  (
    ["--distinct", "--columns", "home", "--where", "name == 'b'"],
    [#"{"home": {"geo": {"lon": null}, "no": null, "zip": "B"}}"#]
  ),
])
func `computed and distinct columns have all elements of composite values`(
  words: [String], rows: [String]
) throws {
  let directory = try TemporaryFolder()
  let path = directory.path("a")
  #expect(CommandRun("import", path, try directory.file("a.json", nestedDefaults)).status == .success)
  let run = CommandRun(["fetch", path, "Shop", "--format", "json"] + words)
  #expect(run.output == "[\n\(rows.joined(separator: ",\n"))\n]\n", "\(run.output)\(run.notes)")
}

@Test(arguments: [
  (#""home.geo": {"lat": 3}"#, #"{"geo": {"lat": 3, "lon": 1.5}, "no": 7, "zip": "Z"}"#),
  (#""home.geo": {}"#, #"{"geo": {"lon": 1.5}, "no": 7, "zip": "Z"}"#),
  (#""home": null, "home.geo": {"lat": 3}"#, #"{"geo": {"lat": 3, "lon": 1.5}, "no": 7, "zip": "Z"}"#),
  (#""home": null, "home.zip": "W""#, #"{"no": 7, "zip": "W"}"#),
  (#""home.zip": "W", "home": null"#, #"{"no": 7, "zip": "W"}"#),
  (#""home.zip": "W", "home.no": null, "home": null"#, #"{"no": null, "zip": "W"}"#),
  (#""home.zip": "W", "home": {"no": 3}"#, #"{"no": 3, "zip": "W"}"#),
  (
    #""home.geo.lat": 3, "home.geo": null, "home": {"zip": "W"}"#,
    #"{"geo": {"lat": 3, "lon": 1.5}, "no": 7, "zip": "W"}"#
  ),
  (#""home.zip": null, "home": null"#, "null"),
])
func `an element beside the whole of a composite attribute counts, whichever is first`(
  members: String, home: String
) throws {
  let directory = try TemporaryFolder()
  let path = directory.path("a")
  #expect(CommandRun("import", path, try directory.file("a.json", nestedDefaults)).status == .success)
  for name in ["c", "d"] {
    let file = try directory.file("b.json", #"[{"@entity": "Shop", "name": "\#(name)", \#(members)}]"#)
    let run = CommandRun("import", path, file, "--upsert", "name")
    #expect(run.status == .success, "\(run.notes)")
    let shown = CommandRun(
      "fetch", path, "Shop", "--where", "name == '\(name)'", "--columns", "home", "--format", "json")
    #expect(shown.output == "[\n{\"home\": \(home)}\n]\n", "\(shown.output)")
  }
}

@Test func `a column of a nested composite makes the one around it have a value`() throws {
  let directory = try TemporaryFolder()
  let path = directory.path("a")
  #expect(CommandRun("import", path, try directory.file("a.json", nestedDefaults)).status == .success)
  for text in ["home.zip,home,name\nQ,,c\n", "home,name,home.geo\n,d,\"{\"\"lat\"\":3}\"\n"] {
    let run = CommandRun("import", path, try directory.file("Shop.csv", text), "--upsert", "name")
    #expect(run.status == .success, "\(run.notes)")
  }
  let shown = CommandRun(
    "fetch", path, "Shop", "--where", "name > 'b'", "--columns", "home", "--format", "json")
  #expect(
    shown.output == """
      [
      {"home": {"no": 7, "zip": "Q"}},
      {"home": {"geo": {"lat": 3, "lon": 1.5}, "no": 7, "zip": "Z"}}
      ]

      """, "\(shown.output)")
}
