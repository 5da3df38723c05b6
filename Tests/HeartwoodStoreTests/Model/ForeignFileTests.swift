import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import Heartwood

/// Files of other programs that people take for stores and models.
@Suite struct `Files of other programs` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let files: [(name: String, bytes: [UInt8], part: String)] = [
    (
      "a.sqlite", Array("SQLite format 3\u{0}".utf8) + [UInt8](repeating: 0, count: 600),
      "it is a SQLite database"
    ),
    (
      "b.sqlite",
      Array("SQLite format 3\u{0}".utf8) + [UInt8](repeating: 0, count: 600) + Array("Z_METADATA".utf8),
      "it is a store of Core Data, a SQLite database"
    ),
    (
      "c.binary", Array("bplist00NSStoreModelVersionHashes".utf8) + [UInt8](repeating: 0, count: 600),
      "it is a binary store of Core Data"
    ),
    (
      "d.mom", Array("bplist00NSManagedObjectModel".utf8) + [UInt8](repeating: 0, count: 600),
      "it is a model that Apple's tools have compiled"
    ),
    (
      "e.cdm", Array("bplist00NSMappingModel".utf8) + [UInt8](repeating: 0, count: 600),
      "it is a mapping model that Apple's tools have compiled"
    ),
    (
      "f.xml",
      Array("<?xml version=\"1.0\"?><database><databaseInfo><UUID>1</UUID></databaseInfo></database>".utf8),
      "it is a store of Core Data in XML"
    ),
  ]

  // PSC-02
  @Test(arguments: 0..<files.count, [PersistentStore.StoreType.log, .binary, .json, .xml])
  func `a store is not made of a file of another program, and the error says what it is`(
    place: Int, type: PersistentStore.StoreType
  ) throws {
    let (name, bytes, part) = Self.files[place]
    let url = folder.url.appending(path: name)
    try Data(bytes).write(to: url)
    let item = EntityDescription(name: "Item", properties: [AttributeDescription(name: "a", type: .string)])
    let coordinator = try PersistentStoreCoordinator(checking: ManagedObjectModel(entities: [item]))
    let error = heartwoodError { try coordinator.addPersistentStore(type: type, at: url) }
    #expect(
      error?.code == .persistentStoreOpen && error?.message.contains(part) == true, "\(error?.message ?? "")")
    #expect(error?.message.contains(url.path) == true)
    #expect(try Data(contentsOf: url) == Data(bytes))
  }

  // MOD-02
  @Test func `a model is none of another program's files either`() throws {
    for (name, bytes, part) in Self.files {
      let url = folder.url.appending(path: name)
      try Data(bytes).write(to: url)
      let model = heartwoodMessage { _ = try ManagedObjectModel(contentsOf: url) } ?? ""
      #expect(model.contains(part) || name.hasSuffix(".mom") && model.contains("compiled"), "\(model)")
      let mapping = heartwoodMessage { _ = try MappingModel(contentsOf: url) } ?? ""
      #expect(
        mapping.contains(part)
          || name.hasSuffix(".cdm") && mapping.contains("no mapping model that Apple's tools have compiled"),
        "\(mapping)")
    }
  }
}
