import CoreData
import Foundation
import TestSupport
import Testing

/// A model as the plugin writes it. Another target of these tests has one of the same name.
final class _EmbeddedModel_Garden: CoreData._EmbeddedModel {
  override class var name: String { "Garden" }
  override class var currentVersion: String { "Pond" }
  override class var versions: [(name: String, contents: String)] {
    [
      (
        "Pond",
        "<model><entity name=\"Pond\"><attribute name=\"depth\" optional=\"YES\" attributeType=\"Double\"/></entity></model>"
      )
    ]
  }
}

/// A container of this target.
private final class PondContainer: NSPersistentContainer, @unchecked Sendable {}

@Suite struct `Models of one name in two targets` {
  @Test func `are found by the bundle of the target, and by a class of containers of its module`() throws {
    #expect(PondContainer(name: "Garden").managedObjectModel.entitiesByName.keys.sorted() == ["Pond"])
    let folder = try TemporaryFolder()
    let place = folder.url.appending(path: "package_SwiftDataTests.resources")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    let bundle = try #require(Bundle(url: place))
    let url = try #require(bundle.url(forResource: "Garden", withExtension: "momd"))
    #expect(NSManagedObjectModel(contentsOf: url)?.entitiesByName["Pond"]?.attributesByName["depth"] != nil)
    let version = try #require(bundle.url(forResource: "Pond", withExtension: "mom"))
    #expect(NSManagedObjectModel(contentsOf: version)?.entities.count == 1)
    #expect(NSManagedObjectModel.mergedModel(from: [bundle])?.entitiesByName["Pond"] != nil)
    let versions = bundle._urls(forResourcesWithExtension: "mom", subdirectory: "Garden.momd")
    #expect(versions?.map(\.lastPathComponent) == ["Pond.mom"])
  }
}
