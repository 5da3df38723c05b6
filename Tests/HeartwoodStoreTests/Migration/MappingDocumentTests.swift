import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

@Suite struct `Mapping models as JSON` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private struct Member {
    let object: String
    let name: String
    let isOptional: Bool
  }

  /// The members that the guide's table has.
  private func members() throws -> [Member] {
    let page = try PackageFolder.text(of: "Sources/Heartwood/Documentation.docc/Migration.md")
    return page.split(separator: "\n").flatMap { line -> [Member] in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 3, cells[0].hasSuffix(" mapping") || cells[0] == "mapping model" else { return [] }
      return cells[1].split(separator: ", ").map {
        Member(
          object: cells[0], name: $0.trimmingCharacters(in: ["`"]), isOptional: cells[2].hasPrefix("optional")
        )
      }
    }
  }

  private static let places = ["mapping model": 0, "entity mapping": 1, "property mapping": 2]

  /// A mapping model with one mapping of one attribute, in which a member of one of the three objects is removed or replaced.
  private func read(_ member: Member, _ value: Any?) throws {
    var objects: [[String: Any]] = [
      ["formatVersion": 1],
      [
        "name": "A", "type": 5, "source": "A", "destination": "A", "relationships": [Any](),
        "userInfo": [String: Any](),
      ],
      ["name": "x", "userInfo": [String: Any]()],
    ]
    objects[1]["attributes"] = [objects[2]]
    objects[0]["entityMappings"] = [objects[1]]
    let place = Self.places[member.object] ?? 0
    objects[place][member.name] = value
    if place > 1 { objects[1]["attributes"] = [objects[2]] }
    if place > 0 { objects[0]["entityMappings"] = [objects[1]] }
    let url = folder.url.appending(path: "mapping.json")
    try JSONSerialization.data(withJSONObject: objects[0]).write(to: url)
    _ = try MappingModel(contentsOf: url)
  }

  @Test func `the guide's table has the members that are read, and which must be there`() throws {
    let members = try members()
    #expect(members.count == 19)
    for member in members {
      let missing = heartwoodError { try read(member, nil) }?.message
      if member.isOptional {
        #expect(missing == nil, "\(member)")
      } else {
        #expect(missing?.contains("\"\(member.name)\" is missing") == true, "\(member): \(missing ?? "read")")
      }
      // A member that is not read may have any value.
      let wrong = heartwoodError { try read(member, ["a": 1]) }?.message ?? ""
      #expect(wrong.contains("is no mapping model"), "\(member)")
      #expect(wrong.contains(member.name) && !wrong.contains("DecodingError"), "\(wrong)")
    }
  }

  @Test func `the guide's table has all members that are written`() throws {
    let mapping = EntityMapping(from: "A", to: "B", type: .transform)
    (mapping.sourceEntityVersionHash, mapping.destinationEntityVersionHash) = (Data([1]), Data([2]))
    mapping.sourcePredicate = try FormatPredicate("x == 1")
    mapping.policyName = "P"
    let byDefault = PropertyMapping(name: "z")
    byDefault.usesDefault = true
    mapping.attributeMappings = [
      PropertyMapping(name: "x", from: "y"), try PropertyMapping(name: "y", valueExpression: "1"), byDefault,
    ]
    let document = try MappingModel(entityMappings: [mapping]).encodedDocument()
    var written: [String: Set<String>] = [:]
    func note(_ object: Any?, _ kind: String, _ parts: [(String, String)]) {
      guard let object = object as? [String: Any] else { return }
      written[kind, default: []].formUnion(object.keys)
      for (name, kind) in parts {
        for part in object[name] as? [Any] ?? [] {
          note(part, kind, kind == "entity mapping" ? [("attributes", "property mapping")] : [])
        }
      }
    }
    note(
      try JSONSerialization.jsonObject(with: document), "mapping model",
      [("entityMappings", "entity mapping")])
    var listed: [String: Set<String>] = [:]
    for member in try members() where member.name != "isIfPresent" {
      listed[member.object, default: []].insert(member.name)
    }
    #expect(written == listed)
  }
}
