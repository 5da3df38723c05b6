import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodEngine
import TestSupport
import Testing

@Suite struct `A store holds a graph, or keys and values` {
  private func fillWithKeys(_ path: String) throws {
    let engine = try Engine(at: path)
    try engine.write { try $0.put(Array("city".utf8), Array("Reykjavík".utf8)) }
    try engine.close()
  }

  private func fillWithObjects(_ url: URL) throws {
    let container = try PersistentContainer(name: "Companies", types: companyTypes, at: url)
    let context = container.newBackgroundContext()
    _ = context.makeCompany("A")
    try context.save()
    try container.close()
  }

  @Test func `a container refuses a store of keys and values, and leaves it unchanged`() throws {
    let folder = try TemporaryFolder()
    try fillWithKeys(folder.store.path)
    let error = heartwoodError {
      _ = try PersistentContainer(name: "Companies", types: companyTypes, at: folder.store)
    }
    #expect(error?.code == .persistentStoreIncompatibleSchema)
    #expect(error?.message.contains("keys and values") == true)
    let engine = try Engine(at: folder.store.path)
    #expect(try engine.snapshot().count == 1)
    #expect(engine.newestGeneration.rawValue == 1)
  }

  @Test func `an engine refuses to write into the store of a graph`() throws {
    let folder = try TemporaryFolder()
    try fillWithObjects(folder.store)
    #expect(throws: EngineError.self) {
      let engine = try Engine(at: folder.store.path)
      defer { try? engine.close() }
      try engine.write { try $0.put(Array("city".utf8), Array("Reykjavík".utf8)) }
    }
    let container = try PersistentContainer(name: "Companies", types: companyTypes, at: folder.store)
    #expect(try container.newBackgroundContext().count(Company.self) == 1)
    #expect(try container.persistentStoreCoordinator.verify().findings == [])
  }

  @Test func `an engine reads the store of a graph, and writes it on request`() throws {
    let folder = try TemporaryFolder()
    try fillWithObjects(folder.store)
    let reader = try Engine(at: folder.store.path, options: EngineOptions(access: .readOnly))
    #expect(reader.content == .graph)
    try reader.close()
    var options = EngineOptions()
    options.acceptsOtherContent = true
    let engine = try Engine(at: folder.store.path, options: options)
    try engine.write { try $0.put(Array("city".utf8), [1]) }
    try engine.close()
    #expect(error(at: folder.store.path) == .otherContent)
  }

  @Test func `a container creates a graph in a store of keys on request`() throws {
    let folder = try TemporaryFolder()
    try fillWithKeys(folder.store.path)
    let container = PersistentContainer(
      name: "Companies", managedObjectModel: try ManagedObjectModel(types: companyTypes))
    let description = PersistentStoreDescription(url: folder.store)
    description.acceptsOtherContent = true
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    try container.close()
    #expect(error(at: folder.store.path) == .otherContent)
  }

  @Test func `a store of a graph that has no mark is marked when a container opens it`() throws {
    let folder = try TemporaryFolder()
    // As earlier versions wrote it: the keys of a graph without a mark.
    let engine = try Engine(at: folder.store.path)
    try engine.close()
    #expect(error(at: folder.store.path) == nil)
    try fillWithObjects(folder.store)
    #expect(error(at: folder.store.path) == .otherContent)
  }

  @Test func `a store keeps its mark in a backup and after a crash`() throws {
    let folder = try TemporaryFolder()
    let container = try PersistentContainer(name: "Companies", types: companyTypes, at: folder.store)
    _ = container.newBackgroundContext().makeCompany("A")
    let copy = folder.url.appending(path: "copy")
    let left = folder.url.appending(path: "left")
    try container.persistentStoreCoordinator.backup(to: copy)
    // The files that a process would leave if it ended now.
    try FileManager.default.copyItem(at: folder.store, to: left)
    #expect(error(at: copy.path) == .otherContent)
    #expect(error(at: left.path) == .otherContent)
    try container.close()
  }

  @Test func `a custom mark keeps engines and containers without it out`() throws {
    let folder = try TemporaryFolder()
    var options = EngineOptions()
    options.content = StoreContent("example.prices")
    let engine = try Engine(at: folder.store.path, options: options)
    #expect(engine.content?.description == "example.prices")
    #expect(error(at: folder.store.path) == .otherContent)
    try engine.close()
    try Engine(at: folder.store.path, options: options).close()
    let refused = heartwoodError {
      _ = try PersistentContainer(name: "Companies", types: companyTypes, at: folder.store)
    }
    #expect(refused?.code == .persistentStoreIncompatibleSchema)
  }

  /// The error of an engine without a content mark that opens the store for writing.
  private func error(at path: String) -> EngineError.Code? {
    do {
      try Engine(at: path).close()
      return nil
    } catch {
      return error.code
    }
  }
}
