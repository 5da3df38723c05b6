import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

@Suite struct `Examples of the article on models of Xcode` {
  @Test func `a model is written, read with its classes, and opens the store that the classes made`() throws {
    let temporary = try TemporaryFolder()
    let folder = temporary.url.appending(path: "Library.xcdatamodeld")
    do {
      let model = try ManagedObjectModel(types: [Author.self, Book.self, Comic.self, Subject.self])
      try model.writeXcodeModel(to: folder, version: "Library 2")
    }
    let url = folder
    let model = try ManagedObjectModel(contentsOf: url, classes: [Author.self, Book.self])
    let container = PersistentContainer(name: "Library", managedObjectModel: model)
    container.persistentStoreDescriptions = [PersistentStoreDescription(url: temporary.store)]
    try container.loadPersistentStores()
    let context = container.newBackgroundContext()
    context.makeBook("1", "Title")
    try context.save()
    try container.close()
    do {
      let model = try ManagedObjectModel(contentsOf: url) { note in print(note) }
      #expect(
        try ManagedObjectModel.checksumsForVersionedModel(at: url) == ["Library 2": model.versionChecksum])
    }
    // The program of the tests has no model among its resources.
    let missing = heartwoodError {
      let container = try PersistentContainer(name: "Library")
      try container.loadPersistentStores()
    }
    #expect(missing?.message.contains("no model called Library") == true)
  }
}
