import CoreData
import Foundation
import TestSupport
import Testing

final class VolumePolicy: NSEntityMigrationPolicy, @unchecked Sendable {}

@Suite struct `Models that Xcode has compiled` {
  private static let fixtures = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in
    url.deletingLastPathComponent()
  }.appending(path: "Fixtures/CompiledModels")
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    for name in ["Library.momd", "Library.cdm"] {
      try FileManager.default.copyItem(
        at: Self.fixtures.appending(path: name), to: folder.url.appending(path: name))
    }
  }

  @Test func `a model is read of a folder and of a version in it, and found in a bundle`() throws {
    let place = folder.url.appending(path: "Library.momd")
    let model = try #require(NSManagedObjectModel(contentsOf: place))
    #expect(model.entitiesByName.keys.sorted() == ["Author", "Book", "Work"])
    let name = try #require(model.entitiesByName["Author"]?.attributesByName["name"])
    #expect(name.attributeType == .stringAttributeType && name.defaultValue as? String == "Unknown")
    let first = try #require(NSManagedObjectModel(contentsOf: place.appending(path: "Library.mom")))
    #expect(first.entitiesByName.keys.sorted() == ["Author", "Volume"])
    let bundle = try #require(Bundle(path: folder.url.path))
    let merged = try #require(NSManagedObjectModel.mergedModel(from: [bundle]))
    #expect(merged.entitiesByName["Book"]?.superentity?.name == "Work")
    let template = try #require(model.fetchRequestTemplate(forName: "Long"))
    #expect(template.entityName == "Book" && template.fetchLimit == 5)
  }

  @Test func `a mapping model is read, with the policy's class of the program`() throws {
    let mapping = try #require(NSMappingModel(contentsOf: folder.url.appending(path: "Library.cdm")))
    #expect(mapping.entityMappings.map(\.name) == ["AuthorToAuthor", "VolumeToBook"])
    #expect(mapping.entityMappings[1].policy is VolumePolicy)
    #expect(mapping.entityMappingsByName["VolumeToBook"]?.destinationEntityName == "Book")
  }
}
