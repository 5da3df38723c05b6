import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import Heartwood

/// Change sets of stores that were migrated since the last exchange.
@Suite struct `Change sets after a migration` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func model(hasRank: Bool) -> ManagedObjectModel {
    let text = AttributeDescription(name: "text", type: .string)
    let rank = AttributeDescription(name: "rank", type: .integer64, isOptional: true)
    let note = EntityDescription(name: "Note", properties: hasRank ? [text, rank] : [text])
    let others = RelationshipDescription(name: "others", destination: note, isToMany: true)
    note.ownProperties.append(others)
    return ManagedObjectModel(entities: [note])
  }

  private func open(_ name: String, hasRank: Bool) throws -> ManagedObjectContext {
    let coordinator = try PersistentStoreCoordinator(checking: model(hasRank: hasRank))
    try coordinator.addPersistentStore(
      with: PersistentStoreDescription(url: URL(fileURLWithPath: folder.path(name))))
    return ManagedObjectContext(.privateQueue, coordinator: coordinator)
  }

  private func coordinator(_ context: ManagedObjectContext) throws -> PersistentStoreCoordinator {
    try #require(context.persistentStoreCoordinator)
  }

  private func exchange(_ first: ManagedObjectContext, _ second: ManagedObjectContext) throws {
    for (from, to) in [(first, second), (second, first)] {
      let (source, target) = try (coordinator(from), coordinator(to))
      try target.apply(source.changeSet(after: target.changeSetPositions()), policy: .newest)
      to.reset()
    }
  }

  private func notes(_ context: ManagedObjectContext) throws -> [ManagedObject] {
    context.reset()
    return try context.fetch(FetchRequest<ManagedObject>(entityName: "Note")).sorted {
      $0.value(forKey: "text") as? String ?? "" < $1.value(forKey: "text") as? String ?? ""
    }
  }

  private func contents(_ context: ManagedObjectContext) throws -> [String] {
    try notes(context).map { note in
      let others = (note.value(forKey: "others") as? Set<ManagedObject> ?? []).count
      return "\(note.value(forKey: "text") ?? "nil") \(note.value(forKey: "rank") ?? "nil") \(others)"
    }
  }

  @Test func `copies that have exchanged everything and were both migrated go on`() throws {
    var first = try open("a", hasRank: false)
    for text in ["one", "two"] {
      let note = ManagedObject(
        entity: try #require(try coordinator(first).managedObjectModel.entitiesByName["Note"]),
        insertInto: first)
      note.setValue(text, forKey: "text")
    }
    try first.save()
    let made = try notes(first)
    made[0].setValue(Set([made[1]]), forKey: "others")
    try first.save()
    try coordinator(first).backup(to: URL(fileURLWithPath: folder.path("b")))
    var second = try open("b", hasRank: false)
    try coordinator(second).beginLineage()
    try exchange(first, second)
    for context in [first, second] { try coordinator(context).close() }

    first = try open("a", hasRank: true)
    second = try open("b", hasRank: true)
    try notes(first)[0].setValue(7, forKey: "rank")
    try first.save()
    try notes(second)[0].setValue(Set<ManagedObject>(), forKey: "others")
    try second.save()
    try exchange(first, second)
    #expect(try contents(first) == ["one 7 0", "two nil 0"])
    #expect(try contents(first) == contents(second))
    try notes(second)[1].setValue(8, forKey: "rank")
    try second.save()
    try exchange(first, second)
    #expect(try contents(first) == ["one 7 0", "two 8 0"])
    #expect(try contents(first) == contents(second))
    for context in [first, second] { #expect(try coordinator(context).verify().findings.isEmpty) }
  }

  @Test func `what was not exchanged before a migration is refused`() throws {
    var first = try open("a", hasRank: false)
    let entity = try #require(try coordinator(first).managedObjectModel.entitiesByName["Note"])
    ManagedObject(entity: entity, insertInto: first).setValue("early", forKey: "text")
    try first.save()
    try coordinator(first).backup(to: URL(fileURLWithPath: folder.path("b")))
    let second = try open("b", hasRank: false)
    try coordinator(second).beginLineage()
    ManagedObject(entity: entity, insertInto: first).setValue("late", forKey: "text")
    try first.save()
    let positions = try coordinator(second).changeSetPositions()
    try coordinator(first).close()
    first = try open("a", hasRank: true)
    let error = heartwoodError { _ = try coordinator(first).changeSet(after: positions) }
    #expect(error?.code == .persistentStoreIncompatibleVersionHash)
  }
}
