import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import Heartwood

/// Nothing of a mapping model is dropped in silence: it is part of the mappings, or a note or an error names it with its line.
@Suite struct `Notes and mistakes of mapping models of Xcode` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// An object of the file, with its attributes and the objects that its relationships name, one a line.
  private struct Item {
    let id: String
    let type: String
    var attributes: [(name: String, value: String)]
    var references: [(name: String, ids: String)] = []

    var text: String {
      (["<object type=\"\(type)\" id=\"\(id)\">"]
        + attributes.map { "<attribute name=\"\($0.name)\" type=\"string\">\($0.value)</attribute>" }
        + references.map {
          "<relationship name=\"\($0.name)\" type=\"0/0\" destination=\"X\" idrefs=\"\($0.ids)\"/>"
        } + ["</object>"]).joined(separator: "\n")
    }
  }

  /// The mapping of an entity `Trip` with an attribute, in order: the model, the mapping, and those of properties.
  private static let plain = [
    Item(id: "z1", type: XcodeMappingFormat.model, attributes: [], references: [("entitymappings", "z2")]),
    Item(
      id: "z2", type: XcodeMappingFormat.entity,
      attributes: [("sourcename", "Trip"), ("destinationname", "Trip"), ("mappingtypename", "Undefined")],
      references: [("mappingmodel", "z1"), ("attributemappings", "z3"), ("relationshipmappings", "z4")]),
    Item(
      id: "z3", type: XcodeMappingFormat.attribute,
      attributes: [
        ("name", "hours"), ("valueexpression", "$source.days * 24"), ("autogenerateexpression", "0"),
      ], references: [("entitymapping", "z2")]),
    Item(
      id: "z4", type: XcodeMappingFormat.relationship,
      attributes: [("name", "stops"), ("autogenerateexpression", "1")], references: [("entitymapping", "z2")]),
  ]

  private func read(
    _ items: [Item], inside: String = "", after: String = ""
  ) throws -> (mapping: MappingModel, notes: [String]) {
    let url = folder.url.appending(path: "M.xcmappingmodel")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    let text =
      "<?xml version=\"1.0\"?>\n<!DOCTYPE database SYSTEM \"file:///CoreData.dtd\">\n<database>\n<databaseInfo><version>1</version></databaseInfo>\n"
      + items.map(\.text).joined(separator: "\n") + "\n\(inside)</database>\(after)"
    try Data(text.utf8).write(to: url.appending(path: "xcmapping.xml"))
    var notes: [String] = []
    let mapping = try MappingModel(contentsOf: url) { notes.append($0) }
    return (mapping, notes)
  }

  private func changed(_ place: Int, _ change: (inout Item) -> Void) -> [Item] {
    var items = Self.plain
    change(&items[place])
    return items
  }

  // MIG-07
  @Test func `what a mapping model of Xcode has and has no effect is named with its line`() throws {
    #expect(try read(Self.plain).notes == [])
    let cases: [(items: [Item], inside: String, note: String)] = [
      (
        changed(2) { $0.attributes[1].name = "valueexpresion" }, "",
        "line 18: valueexpresion=\"$source.days * 24\" of the mapping z3 of hours is not known"
      ),
      (
        changed(1) { $0.references.append(("foo", "z3")) }, "",
        "line 15: the relationship foo of the mapping TripToTrip"
      ),
      (
        Self.plain + [Item(id: "z9", type: "XDDEVFOO", attributes: [])], "",
        "the object z9 is of the type \"XDDEVFOO\", which is not known"
      ),
      (
        Self.plain + [Item(id: "z9", type: XcodeMappingFormat.attribute, attributes: [("name", "a")])], "",
        "the mapping z9 of a is in the list of no other object"
      ),
      (
        changed(0) { $0.references[0].ids = "z2 z9" }
          + [
            Item(
              id: "z9", type: XcodeMappingFormat.entity, attributes: [("name", "Mapping")],
              references: [("mappingmodel", "z1")])
          ], "", "the mapping Mapping has neither a source nor a destination, and has no effect"
      ),
      (Self.plain, "<widget/>", "<widget> is not known"),
      (Self.plain, "stray", "the text \"stray\" of <database>"),
      (
        changed(1) { $0.attributes[2].value = "Banana" }, "",
        "mappingtypename=\"Banana\" of the mapping TripToTrip"
      ),
      (
        changed(1) { $0.attributes.append(("mappingnumber", "abc")) }, "",
        "mappingnumber=\"abc\" of the mapping TripToTrip is no number, and is read as 0"
      ),
      (
        changed(2) { $0.attributes[2].value = "banana" }, "",
        "autogenerateexpression=\"banana\" of the mapping z3 of hours is neither 1 nor 0"
      ),
      (
        changed(2) { $0.references = [] }, "",
        "z3 of hours is in attributemappings of the mapping TripToTrip, and does not name it"
      ),
    ]
    for (items, inside, note) in cases {
      let notes = try read(items, inside: inside).notes
      #expect(
        notes.count == 1 && notes[0].contains(note) && notes[0].contains("xcmapping.xml, line "), "\(notes)")
    }
  }

  // MIG-07
  @Test func `a mapping model of Xcode that leaves open which values are meant is refused`() throws {
    let cases: [(items: [Item], reason: String)] = [
      (
        changed(1) { $0.references[1].ids = "" },
        "the mapping z3 of hours names the mapping TripToTrip, whose lists lack it"
      ),
      (
        changed(2) { $0.references[0].ids = "z1" },
        "is in attributemappings of the mapping TripToTrip, and names the mapping model"
      ),
      (
        changed(0) { $0.references[0].ids = "" },
        "the mapping TripToTrip names the mapping model, whose lists lack it"
      ),
      (
        changed(1) { $0.attributes[2].value = "Remove" }, "is of the type Remove, and leads from Trip to Trip"
      ),
      (changed(1) { $0.attributes[2].value = "Add" }, "is of the type Add, and leads from Trip to Trip"),
      (
        changed(1) {
          $0.attributes[2].value = "Copy"
          $0.attributes[1].value = ""
        }, "is of the type Copy, and leads from Trip to no entity"
      ),
      (
        changed(1) {
          $0.attributes[0].value = ""
          $0.attributes[1].value = ""
        }, "the mapping z2 has properties or a policy, and neither a source nor a destination"
      ),
      (
        changed(2) { $0.attributes[2].value = "1" },
        "says that the value of hours is generated, and that it is"
      ),
      (
        changed(2) { $0.attributes.append(("valueexpression", "7")) },
        "the mapping z3 of hours has valueexpression twice"
      ),
    ]
    for (items, reason) in cases {
      let error = heartwoodError { _ = try read(items) }
      #expect(error?.code == .coreData, "\(reason)")
      #expect(error?.message.contains(reason) == true, "\(error?.message ?? "none"): \(reason)")
      #expect(error?.message.contains("xcmapping.xml, line ") == true)
    }
  }

  @Test func `mistakes of a mapping model of Xcode are in one error, each with its line`() throws {
    var items = Self.plain
    items[1].attributes[2].value = "Remove"
    items[2].attributes[1].value = "$source.days *"
    items[3].attributes[0].name = "nome"
    let error = heartwoodError { _ = try read(items) }
    #expect(error?.message.contains("3 mistakes") == true, "\(error?.message ?? "")")
    #expect(
      error?.details.map { String($0.message.split(separator: "xcmapping.xml, ").last?.prefix(7) ?? "") }
        == ["line 8:", "line 16", "line 22"])
  }

  @Test func `what follows the end of a mapping model is an error with its line`() throws {
    for after in ["\n>>>>>>> other\n", "\n<database/>", "&bogus;"] {
      let error = heartwoodError { _ = try read(Self.plain, after: after) }
      #expect(error?.message.contains("there is something after the end of <database>") == true, "\(after)")
    }
    #expect(throws: Never.self) { _ = try read(Self.plain, after: "\n<!-- the end --><?x y?>\n") }
  }

  @Test func `the guide's table has each attribute of a mapping model, and what becomes of it`() throws {
    let page = try PackageFolder.text(of: "Sources/Heartwood/Documentation.docc/Migration.md")
    var listed: [String: [String: String]] = [:]
    for line in page.split(separator: "\n")
    where line.hasPrefix("| `XDDEV") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      for field in cells[1].split(separator: ", ") {
        listed[cells[0].trimmingCharacters(in: ["`"]), default: [:]][field.trimmingCharacters(in: ["`"])] =
          cells[2]
      }
    }
    #expect(listed == XcodeMappingFormat.attributes.mapValues { $0.mapValues(\.rawValue) })
  }
}
