import Foundation
import GraphTestSupport
import Heartwood
import Testing

/// Resolves conflicts as its type does, and then refuses the save.
private final class Refusing: MergePolicy, @unchecked Sendable {
  struct Refusal: Error {}

  override func resolve(mergeConflicts list: [Any]) throws {
    try super.resolve(mergeConflicts: list)
    throw Refusal()
  }
}

private let resolving: [MergePolicyType] = [
  .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
]

@Suite struct `Saves that fail after a merge policy has resolved conflicts` {
  /// The values that the objects of a context show, with their identifiers and states, and the undo stack.
  private func facts(_ context: ManagedObjectContext) -> [String] {
    let objects = context.registeredObjects.filter { !$0.isFault }.map { object in
      let values = ["number", "title", "note", "name"].compactMap { key in
        object.entity.propertiesByName[key].map { _ in
          object.value(forKey: key).map { "\($0)" } ?? "-"
        }
      }
      let related = ["group", "items", "labels"].flatMap { key in
        object.entity.relationshipsByName[key] == nil
          ? [] : object.objectIDs(forRelationshipNamed: key).map { "\($0)" }.sorted()
      }
      return
        "\(object.objectID) \(object.isInserted) \(object.isUpdated) \(object.isDeleted) \(values) \(related) "
        + "\(object.changedValues().keys.sorted())"
    }
    return objects.sorted() + ["\((context.undoManager as? UndoStack)?.undoCount ?? -1)"]
  }

  private func makeStore() throws -> (PersistentContainer, ManagedObjectContext) {
    let container = try PersistentContainer(
      name: "Items", types: [Item.self, ItemGroup.self, ItemLabel.self], at: URL(fileURLWithPath: "/dev/null")
    )
    let context = container.newBackgroundContext()
    for number in 1...4 {
      let item = Item(context: context)
      (item.number, item.title) = (Int64(number), "first")
    }
    let group = ItemGroup(context: context)
    group.name = "G"
    group.items = try Set(context.fetch(Item.self, where: { $0.number < 3 }))
    try context.save()
    return (container, context)
  }

  private func item(_ number: Int64, _ context: ManagedObjectContext) throws -> Item {
    try #require(try context.fetch(Item.self, where: { $0.number == number }).first)
  }

  // T07, MRG-19
  @Test(arguments: resolving)
  func `a save that fails after its conflicts were resolved leaves the context as it was`(
    type: MergePolicyType
  ) throws {
    let (container, other) = try makeStore()
    let context = container.newBackgroundContext()
    context.undoManager = UndoStack()
    // A changed row, a deleted row, a deleted object whose row is changed, a new object that is stored, and two equal ones.
    let (first, second, third) = (try item(1, context), try item(2, context), try item(3, context))
    let group = try #require(first.group)
    #expect(group.items == [first, second])
    (first.title, second.note) = ("mine", "mine")
    context.delete(third)
    context.processPendingChanges()
    let stored = Item(context: context)
    (stored.number, stored.title, stored.group) = (4, "new", group)
    let twins = (Item(context: context), Item(context: context))
    (twins.0.number, twins.1.number) = (9, 9)
    twins.1.labels = [ItemLabel(context: context)]
    context.processPendingChanges()
    try item(1, other).title = "theirs"
    try item(1, other).note = "theirs"
    other.delete(try item(2, other))
    try item(3, other).title = "theirs"
    try other.save()
    let before = facts(context)
    let listed = [context.insertedObjects, context.updatedObjects, context.deletedObjects]
    let identifiers = (stored.objectID, twins.1.objectID)

    context.mergePolicy = Refusing(merge: type)
    #expect(throws: Refusing.Refusal.self) { try context.save() }
    #expect(facts(context) == before)
    #expect([context.insertedObjects, context.updatedObjects, context.deletedObjects] == listed)
    #expect(context.registeredObject(for: identifiers.0) === stored)
    #expect(context.registeredObject(for: identifiers.1) === twins.1)
    #expect(stored.group === group && group.items == [first, second, stored])

    // The same save succeeds with a policy that does not refuse, and is undone as a whole.
    context.mergePolicy = MergePolicy(merge: type)
    try context.save()
    #expect(try container.persistentStoreCoordinator.verify().findings.isEmpty)
    let saved = try container.newBackgroundContext().fetch(Item.self, sort: [.ascending(\.number)])
      .map { "\($0.number) \($0.title) \($0.note ?? "-")" }
    switch type {
    case .error: break
    case .mergeByPropertyStoreTrump, .rollback:
      #expect(saved == ["1 theirs theirs", "3 theirs -", "4 first -", "9  -"])
    case .mergeByPropertyObjectTrump:
      #expect(saved == ["1 mine theirs", "2 first mine", "4 new -", "9  -"])
    case .overwrite: #expect(saved == ["1 mine -", "2 first mine", "4 new -", "9  -"])
    }
  }

  @Test func `a save that fails after its conflicts were resolved can be rolled back and undone`() throws {
    let (container, other) = try makeStore()
    let context = container.newBackgroundContext()
    let stack = UndoStack()
    context.undoManager = stack
    let first = try item(1, context)
    first.title = "mine"
    try item(1, other).title = "theirs"
    try other.save()
    context.mergePolicy = Refusing(merge: .mergeByPropertyStoreTrump)
    #expect(throws: Refusing.Refusal.self) { try context.save() }
    #expect(first.title == "mine" && stack.undoCount == 1)
    context.undo()
    #expect(first.title == "first" && !first.hasPersistentChangedValues)
    context.redo()
    #expect(first.title == "mine")
    context.rollback()
    #expect(first.title == "first" && !context.hasChanges)
  }
}
