import Foundation
import GraphTestSupport
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import Heartwood

/// A controller follows changes only if it has a delegate.
private final class IdleDelegate: FetchedResultsControllerDelegate {
  typealias Object = ManagedObject
}

/// Histories, generations, batches and merges of several stores.
@Suite struct `Histories of several stores` {
  private let world: SeveralStoresWorld
  private let library: PersistentStore
  private let archive: PersistentStore
  private let local: PersistentStore
  private let context: ManagedObjectContext

  init() throws {
    world = try SeveralStoresWorld()
    library = try world.add("Library")
    archive = try world.add("Archive")
    local = try world.add("Local", type: .inMemory)
    context = world.context()
  }

  private func save(_ entity: String, _ number: Int, to store: PersistentStore) throws {
    context.assign(world.make(entity, number, in: context), to: store)
    try context.save()
  }

  // PSC-16, HIS-17
  @Test func `a token spans the stores, and history goes on from it in each`() throws {
    try save("Writer", 1, to: library)
    let token = try #require(world.coordinator.currentPersistentHistoryToken(fromStores: nil))
    #expect(Set(token.transactionNumbersByStore.keys) == Set([library, archive, local].map(\.identifier)))
    let two = try #require(
      world.coordinator.currentPersistentHistoryToken(fromStores: [library, local]))
    #expect(Set(two.transactionNumbersByStore.keys) == Set([library, local].map(\.identifier)))
    let coded = try JSONDecoder().decode(PersistentHistoryToken.self, from: JSONEncoder().encode(token))
    #expect(coded == token && coded.hashValue == token.hashValue)
    try save("Writer", 2, to: archive)
    try save("Note", 3, to: local)
    try save("Writer", 4, to: library)
    func transactions(
      _ token: PersistentHistoryToken?, _ stores: [PersistentStore]? = nil
    ) throws -> [PersistentHistoryTransaction] {
      let request = PersistentHistoryChangeRequest.fetchHistory(after: token)
      request.affectedStores = stores
      return try context.execute(request).transactions
    }
    let all = try transactions(coded)
    #expect(all.map(\.storeID) == [archive, local, library].map(\.identifier))
    #expect(all.allSatisfy { $0.changes?.count == 1 })
    #expect(try transactions(nil).count == 4)
    #expect(try transactions(token, [archive]).map(\.storeID) == [archive.identifier])
    // Each transaction's token goes on after it in all stores.
    #expect(try transactions(all[0].token).map(\.storeID) == [local, library].map(\.identifier))
    #expect(try transactions(all[2].token).isEmpty)
    #expect(all[0].changes?.first?.changedObjectID.persistentStore === archive)
    let deletion = PersistentHistoryChangeRequest.deleteHistory(before: all[2].token)
    #expect(try context.execute(deletion).count == 1)
    #expect(try transactions(nil).count == 3)
  }

  @Test func `a token of a store that is not open is refused`() throws {
    let other = try SeveralStoresWorld()
    try other.add("Library")
    let token = try #require(other.coordinator.currentPersistentHistoryToken())
    let error = heartwoodError {
      _ = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: token))
    }
    #expect(error?.code == .persistentHistoryTokenExpired)
  }

  @Test func `a pinned context shows the same state of all stores`() throws {
    try save("Writer", 1, to: library)
    try save("Writer", 2, to: archive)
    let pinned = world.context()
    try pinned.setQueryGenerationFrom(.current)
    #expect(try pinned.numbers("Writer", sort: ["number"]) == [1, 2])
    let token = try #require(pinned.queryGenerationToken)
    #expect(token.generationsByStore.count == 3)
    try save("Writer", 3, to: library)
    try save("Writer", 4, to: archive)
    #expect(try pinned.numbers("Writer", sort: ["number"]) == [1, 2])
    let other = world.context()
    let coded = try JSONDecoder().decode(QueryGenerationToken.self, from: JSONEncoder().encode(token))
    try other.setQueryGenerationFrom(coded)
    #expect(try other.numbers("Writer", sort: ["number"]) == [1, 2])
    try other.setQueryGenerationFrom(try world.coordinator.newestQueryGenerationToken())
    #expect(try other.numbers("Writer", sort: ["number"]) == [1, 2, 3, 4])
    try world.coordinator.remove(local)
    let error = heartwoodError { try other.setQueryGenerationFrom(token) }
    #expect(error?.code == .persistentStoreOperation)
    #expect(error?.message.contains(local.identifier) == true)
    let few = heartwoodError {
      try other.setQueryGenerationFrom(QueryGenerationToken(generation: 1, storeID: library.identifier))
    }
    #expect(few?.code == .persistentStoreOperation)
  }

  @Test func `a save of a pinned context moves its pin in all stores`() throws {
    try context.setQueryGenerationFrom(.current)
    #expect(try context.numbers("Writer") == [])
    try save("Writer", 1, to: archive)
    #expect(try context.numbers("Writer") == [1])
  }

  // PSC-15, BAT-01
  @Test func `batches work in all stores, or in those that they name`() throws {
    let insert = BatchInsertRequest(
      entityName: "Writer", objects: (1...6).map { ["number": $0, "rank": $0 % 3] })
    insert.affectedStores = [archive]
    insert.resultType = .objectIDs
    let inserted = try context.execute(insert)
    #expect(inserted.objectIDs.allSatisfy { $0.persistentStore === archive })
    try context.execute(
      BatchInsertRequest(entityName: "Writer", objects: (7...12).map { ["number": $0, "rank": $0 % 3] }))
    #expect(try context.numbers("Writer", sort: ["number"], in: [library]) == Array(7...12))
    let update = BatchUpdateRequest(entityName: "Writer")
    update.predicate = try FormatPredicate("rank == 1")
    update.propertiesToUpdate = ["name": "one"]
    update.resultType = .count
    #expect(try context.execute(update).count == 4)
    #expect(try context.numbers("Writer", "name == 'one'", sort: ["-number"]) == [10, 7, 4, 1])
    update.affectedStores = [library]
    update.propertiesToUpdate = ["name": "uno"]
    #expect(try context.execute(update).count == 2)
    let first = try context.request("Writer", sort: ["number"], limit: 3, offset: 4)
    let delete = BatchDeleteRequest(fetchRequest: first)
    delete.resultType = .objectIDs
    let other = world.context()
    let watched = try other.fetch("Writer", sort: ["number"])
    let result = try context.execute(delete, mergingInto: [other])
    #expect(result.objectIDs.count == 3)
    #expect(watched.filter(\.isDeleted).map(\.ownNumber) == [5, 6, 7])
    #expect(try context.numbers("Writer", sort: ["number"]) == [1, 2, 3, 4, 8, 9, 10, 11, 12])
    let identifiers = try context.fetch("Writer", "number IN {1, 12}").map(\.objectID)
    try context.execute(BatchDeleteRequest(objectIDs: identifiers))
    #expect(try context.numbers("Writer", sort: ["number"]) == [2, 3, 4, 8, 9, 10, 11])
    let notes = BatchInsertRequest(entityName: "Note", objects: [["number": 1]])
    notes.affectedStores = [library]
    #expect(heartwoodError { _ = try context.execute(notes) }?.code == .persistentStoreIncompatibleSchema)
  }

  @Test func `contexts merge what others save to any of the stores`() throws {
    try save("Writer", 1, to: library)
    try save("Writer", 2, to: archive)
    let other = world.context()
    let writers = try other.fetch("Writer", sort: ["number"])
    let mine = try context.fetch("Writer", sort: ["number"])
    for writer in mine { writer.setValue("new", forKey: "name") }
    let child = ManagedObjectContext(.privateQueue)
    child.parent = context
    #expect(try child.numbers("Writer", "name == 'new'", sort: ["number"]) == [1, 2])
    try context.save()
    var changes = ObjectIDChanges()
    changes.updatedObjectIDs = Set(mine.map(\.objectID))
    #expect(writers.map { $0.value(forKey: "name") as? String } == [nil, nil])
    other.merge(changes)
    #expect(writers.map { $0.value(forKey: "name") as? String } == ["new", "new"])
    writers[1].setValue("x", forKey: "name")
    mine[1].setValue("y", forKey: "name")
    mine[0].setValue("y", forKey: "name")
    try context.save()
    writers[0].setValue(5, forKey: "rank")
    let error = heartwoodError { try other.save() }
    #expect(error?.code == .managedObjectMerge && error?.mergeConflicts.count == 2)
    other.mergePolicy = .mergeByPropertyObjectTrump
    try other.save()
    #expect(try world.context().numbers("Writer", "name == 'x'") == [2])
    #expect(try world.context().numbers("Writer", "name == 'y' AND rank == 5") == [1])
  }

  @Test func `live results follow the changes in all stores, or in those of the request`() throws {
    try save("Writer", 1, to: library)
    try save("Writer", 3, to: archive)
    let reader = world.context()
    let results = try [nil, [archive]].map { stores in
      FetchedResultsController(
        fetchRequest: try reader.request("Writer", sort: ["number"], in: stores),
        managedObjectContext: reader)
    }
    func numbers() -> [[Int]] { results.map { $0.fetchedObjects?.map(\.ownNumber) ?? [] } }
    let listener = IdleDelegate()
    defer { withExtendedLifetime(listener) {} }
    for result in results {
      result.delegate = listener
      try result.performFetch()
    }
    reader.assign(world.make("Writer", 2, in: reader), to: archive)
    _ = world.make("Writer", 4, in: reader)
    reader.processPendingChanges()
    #expect(numbers() == [[1, 2, 3, 4], [2, 3]])
    let child = ManagedObjectContext(.privateQueue)
    child.parent = reader
    #expect(try child.numbers("Writer", sort: ["number"], in: [archive]) == [2, 3])
    #expect(try child.numbers("Writer", sort: ["-number"], in: [library]) == [4, 1])
    try reader.save()
    #expect(numbers() == [[1, 2, 3, 4], [2, 3]])
    try save("Writer", 5, to: archive)
    var changes = ObjectIDChanges()
    changes.insertedObjectIDs = Set(try context.fetch("Writer", "number == 5").map(\.objectID))
    reader.merge(changes)
    #expect(numbers() == [[1, 2, 3, 4, 5], [2, 3, 5]])
  }

  @Test func `coordinators with the stores in different orders save to both without waiting forever`()
    async throws
  {
    let other = try SeveralStoresWorld(folder: world.folder)
    let apart = FaultInjectingFileSystem(base: PosixFileSystem())
    let otherArchive = try other.add("Archive", fileSystem: apart)
    let otherLibrary = try other.add("Library", fileSystem: apart)
    let pairs = [(world, [library, archive]), (other, [otherArchive, otherLibrary])]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (place, (world, stores)) in pairs.enumerated() {
        let context = world.context()
        group.addTask {
          for round in 0..<40 {
            try await context.perform {
              for (index, store) in stores.enumerated() {
                let number = place * 1000 + round * 2 + index
                context.assign(world.make("Writer", number, in: context), to: store)
              }
              try context.save()
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try world.context().numbers("Writer").count == 160)
    #expect(try other.context().numbers("Writer", in: [otherLibrary]).count == 80)
    try other.coordinator.close()
  }
}
