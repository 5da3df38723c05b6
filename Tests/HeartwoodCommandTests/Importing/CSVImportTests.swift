import Heartwood
import HeartwoodFaults
import TestSupport
import Testing

@testable import HeartwoodCommand

@Suite struct `Import of CSV files` {
  private func rows(_ world: SmallWorld, _ columns: String) -> String {
    world.run("fetch", "Country", "--columns", columns, "--sort", "code", "--format", "csv").output
  }

  @Test func `records become objects, with destinations found by a unique attribute`() throws {
    let world = try SmallWorld()
    let file = try world.directory.file(
      "country.csv",
      "code,name,population,continent.name\r\nIE,Ireland,5000000,Europe\r\nNO,\"No \"\"way\"\"\",,Nowhere\r\n"
    )
    let run = CommandRun("import", world.path, file)
    #expect(run.status == .success, "\(run.notes)")
    #expect(run.output.hasPrefix("imported 2 objects and 2 links"))
    #expect(
      rows(world, "code,name,population,continent.name") == """
        code,name,population,continent.name
        DE,Germany,80000000,Europe
        FR,France,66000000,Europe
        IE,Ireland,5000000,Europe
        LU,Luxembourg,550000,Europe
        NO,"No ""way""\",,Nowhere
        PT,Portugal,,Europe

        """)
  }

  @Test func `with upsert, objects with the same value are updated and others are made`() throws {
    let world = try SmallWorld()
    let before = world.run("fetch", "Country", "--columns", "@id,code", "--sort", "code", "--format", "csv")
      .output
    let file = try world.directory.file(
      "changes.csv",
      "code,name,population,continent.name\nFR,Gaul,,Nowhere\nDE,Germany,81000000,\nIE,Ireland,1,\n"
    )
    let run = CommandRun(
      "import", world.path, file, "--entity", "Country", "--upsert", "code", "--batch", "1")
    #expect(run.status == .success, "\(run.notes)")
    #expect(run.output.hasPrefix("imported 3 objects (2 of them updated) and 1 link"))
    #expect(
      rows(world, "code,name,population,continent.name") == """
        code,name,population,continent.name
        DE,Germany,81000000,
        FR,Gaul,,Nowhere
        IE,Ireland,1,
        LU,Luxembourg,550000,Europe
        PT,Portugal,,Europe

        """)
    let after = world.run("fetch", "Country", "--columns", "@id,code", "--sort", "code", "--format", "csv")
      .output
    #expect(Set(before.split(separator: "\n")).isSubset(of: Set(after.split(separator: "\n"))))
    // The links that the file does not give are still there.
    #expect(
      world.run(
        "fetch", "Country", "--columns", "neighbours.@count", "--where", "code == 'FR'", "--format", "csv"
      )
      .output == "neighbours.@count\n2\n")
  }

  @Test func `columns of elements leave the other elements as they are, or give them their defaults`() throws
  {
    let directory = try TemporaryFolder()
    let model = try directory.file(
      "model.json",
      """
      {"entities": {"Shop": {
        "attributes": {
          "code": {"type": "integer64", "unique": true},
          "address": {"type": "composite", "optional": true, "elements": {
            "city": {"type": "string", "optional": true, "default": "Lyon"},
            "zip": {"type": "integer64", "optional": true}}}}}}}
      """)
    let store = directory.path("shops")
    func importing(_ text: String, _ options: [String]) throws {
      let file = try directory.file("Shop.csv", text)
      let run = CommandRun(["import", store, file] + options)
      #expect(run.status == .success, "\(run.notes)")
    }
    try importing("code,address.city,address.zip\n1,Lille,59000\n2,Metz,57000\n3,,\n", ["--model", model])
    try importing("code,address.zip\n1,59800\n2,\n3,\n4,69000\n", ["--upsert", "code"])
    let columns = "code,address.city,address.zip"
    let run = CommandRun("fetch", store, "Shop", "--columns", columns, "--sort", "code", "--format", "csv")
    #expect(run.output == "\(columns)\n1,Lille,59800\n2,Metz,\n3,,\n4,Lyon,69000\n")
  }

  @Test func `the CSV of fetch distinguishes a composite value without elements from none`() throws {
    let directory = try TemporaryFolder()
    let (first, second) = (directory.path("first"), directory.path("second"))
    let model = #"""
      {"entities": {"Shop": {"attributes": {"name": {"type": "string"},
         "address": {"type": "composite", "optional": true, "elements": {
           "city": {"type": "string", "optional": true, "default": "Bern"},
           "place": {"type": "composite", "optional": true, "elements": {"north": {"type": "double", "optional": true}}}}}}}}}
      """#
    let objects = [
      "null", "{}", #"{"city": null}"#, #"{"city": "Lyon", "place": {}}"#, #"{"place": {"north": 1.5}}"#,
    ].enumerated().map { #"{"@entity": "Shop", "name": "\#($0)", "address": \#($1)}"# }
    let file = try directory.file(
      "a.json", #"{"model": \#(model), "objects": [\#(objects.joined(separator: ","))]}"#)
    let made = CommandRun("import", first, file)
    #expect(made.status == .success, "\(made.notes)")
    let csv = CommandRun("fetch", first, "Shop", "--format", "csv").output
    #expect(
      csv.hasPrefix("@id,name,address,address.city,address.place,address.place.north\nShop/p1,0,,,,\n"),
      "\(csv)")
    let run = CommandRun(
      "import", second, try directory.file("b.csv", csv), "--entity", "Shop", "--model",
      try directory.file("m.json", model))
    #expect(run.status == .success, "\(run.notes)")
    let shown = CommandRun("fetch", first, "Shop", "--format", "json").output
    #expect(CommandRun("fetch", second, "Shop", "--format", "json").output == shown)
  }

  @Test func `a reference to an object that only the store has is refused with what finds it`() throws {
    let world = try SmallWorld()
    let csv = rows(world, "code,name,continent")
    let file = try world.directory.file("again.csv", csv)
    let run = CommandRun("import", world.path, file, "--entity", "Country", "--upsert", "code")
    #expect(run.status == .dataError)
    #expect(
      run.notes.contains(
        "add that object to it, or find one of the store with {\"@find\": {\"name\": ...}}, "
          + "which is the column continent.name of CSV"), "\(run.notes)")
    let found = try world.directory.file("found.csv", rows(world, "code,name,continent.name"))
    let again = CommandRun("import", world.path, found, "--entity", "Country", "--upsert", "code")
    #expect(again.status == .success && rows(world, "code,name,continent") == csv, "\(again.notes)")
  }

  @Test func `a JSON file updates too, and links objects that it only refers to`() throws {
    let world = try SmallWorld()
    let file = try world.directory.file(
      "more.json",
      #"[{"@entity": "Country", "code": "PT", "neighbours": [{"@find": {"code": "FR"}}, {"@ref": "Country/ES"}]},"#
        + #"{"@id": "Country/ES", "code": "ES", "name": "Spain", "continent": {"@find": {"name": "Europe"}}}]"#
    )
    let run = CommandRun("import", world.path, file, "--upsert", "Country.code")
    #expect(run.output.hasPrefix("imported 2 objects (1 of them updated) and 5 links"), "\(run.notes)")
    #expect(
      rows(world, "code,neighbours.@count").split(separator: "\n").dropFirst()
        == ["DE,2", "ES,1", "FR,3", "LU,2", "PT,2"])
  }

  @Test(arguments: [
    ("code,name\nXX\n", [], "line 2: 1 field, but line 1 names 2 columns"),
    ("code,nam\nXX,y\n", [], "line 1: Country has no property \"nam\", did you mean name?"),
    ("code,name,population\nXX,y,many\n", [], "line 2.population: expected an integer, found \"many\""),
    (
      "code,name,continent.name\nXX,y,Atlantis\n", [],
      "neither the file nor the store has a Continent whose name is \"Atlantis\""
    ),
    ("code,name,population\nXX,y,2.7\n", [], "line 2.population: expected an integer, found 2.7"),
    (
      "code,name,population\nXX,y,1.00000000000000000001\n", [],
      "line 2.population: expected an integer, found 1.00000000000000000001"
    ),
    ("code,name,population\nXX,y,1e400\n", [], "line 2.population: expected an integer, found \"1e400\""),
    ("code,name,neighbours\nXX,y,z\n", [], "neighbours is a relationship to many, which a column can't hold"),
    ("code,population\nXX,5\n", ["--upsert", "code"], "line 2.name: a value is missing"),
    (
      "code,name\nXX,a\nXX,b\n", ["--upsert", "code"],
      "line 3.code: line 2 has the same value, which is unique"
    ),
    ("code,name\nXX,a\n", ["--upsert", "name"], "Country.name is not unique"),
    ("name\na\n", ["--upsert", "code"], "--upsert Country.code: no object of the file has code"),
    ("code,name\nXX,\"a\n", [], "line 2: a quotation mark has no end"),
    ("", [], "the file is empty"),
  ])
  func `a file that does not fit changes nothing, and the message names the place`(
    text: String, options: [String], message: String
  ) throws {
    let world = try SmallWorld()
    let before = rows(world, "code,name")
    let file = try world.directory.file("bad.csv", text)
    let run = CommandRun(["import", world.path, file, "--entity", "Country"] + options)
    #expect(run.status != .success)
    #expect(run.notes.contains(message), "\(run.notes)")
    #expect(rows(world, "code,name") == before)
  }

  @Test func `without a store and a model, the types of the columns are inferred`() throws {
    let directory = try TemporaryFolder()
    let file = try directory.file(
      "people.csv", "name,age,height,member,zip\nAda,36,1.7,yes,01234\nBob,,1,no,x\n")
    let path = directory.path("people.heartwood")
    #expect(CommandRun("import", path, file).status == .success)
    let schema = CommandRun("schema", path).output
    #expect(schema.hasPrefix("People\n"))
    for line in [
      "age     integer64?", "height  double", "member  boolean", "name    string", "zip     string",
    ] {
      #expect(schema.contains(line), "\(schema)")
    }
  }

  @Test(arguments: 0..<20)
  func `what fetch writes as CSV is imported with the same values`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let directory = try TemporaryFolder()
    let model = try directory.file(
      "model.json",
      #"{"entities": {"Item": {"attributes": {"number": {"type": "integer32", "unique": true}, "#
        + #""text": {"type": "string", "optional": true}, "size": {"type": "double", "optional": true}}}}}"#)
    let pieces = ["a", "\"", ",", "\n", "\r\n", "\u{E9}", " ", ";", "", "\t"]
    let objects = (0..<Int.random(in: 1...40, using: &random)).map { number in
      let text = (0..<Int.random(in: 1...6, using: &random)).map { _ in
        pieces.randomElement(using: &random) ?? ""
      }
      let value = JSONWriter.line(.string(text.joined()))
      let size = Bool.random(using: &random) ? "null" : "\(Double.random(in: -5...5, using: &random))"
      return
        #"{"@entity": "Item", "number": \#(number), "text": \#(Bool.random(using: &random) ? "null" : value), "size": \#(size)}"#
    }
    let (first, second) = (directory.path("first"), directory.path("second"))
    let json = try directory.file("items.json", "[\(objects.joined(separator: ","))]")
    #expect(CommandRun("import", first, json, "--model", model).status == .success)
    let shown = [
      "fetch", first, "Item", "--columns", "number,text,size", "--sort", "number", "--format", "csv",
    ]
    let written = CommandRun(shown).output
    let csv = try directory.file("items.csv", written)
    let run = CommandRun("import", second, csv, "--model", model, "--entity", "Item")
    #expect(run.status == .success, "\(run.notes)")
    #expect(CommandRun(shown.map { $0 == first ? second : $0 }).output == written)
  }
}
