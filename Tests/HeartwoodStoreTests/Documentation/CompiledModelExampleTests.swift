import Foundation
import Heartwood
import TestSupport
import Testing

@Suite struct `Examples of the article on compiled models` {
  private final class VolumePolicy: EntityMigrationPolicy, @unchecked Sendable {}

  @Test func `a model and a mapping are read, and what has no meaning is named`() throws {
    let app = PackageFolder.url.appending(path: "Fixtures/CompiledModels")
    do {
      let model = try ManagedObjectModel(contentsOf: app.appending(path: "Library.momd"))
      let mapping = try MappingModel(
        contentsOf: app.appending(path: "Library.cdm"), policies: ["VolumePolicy": VolumePolicy()])
      #expect(!model.entities.isEmpty && !mapping.entityMappings.isEmpty)
    }
    let url = app.appending(path: "Library.momd")
    let model = try ManagedObjectModel(contentsOf: url) { note in print(note) }
    #expect(!model.entities.isEmpty)
  }
}
