import Foundation
import SwiftData
import Testing

private enum Drawers {
  @Model
  final class Drawer {
    var name: String
    var labels: [Label] = []
    @Relationship(deleteRule: .cascade) var keys: [Key]?
    var colour: Colour?
    init(_ name: String, _ labels: [Label] = []) {
      self.name = name
      self.labels = labels
    }
  }

  @Model
  final class Label {
    @Attribute(.unique) var text: String
    init(_ text: String) { self.text = text }
  }

  @Model
  final class Colour {
    var name: String
    init(_ name: String) { self.name = name }
  }

  @Model
  final class Key {
    var number: Int
    init(_ number: Int) { self.number = number }
  }
}

/// Relationships of models that do not lead back.
struct OneWayRelationshipTests {
  private typealias Drawer = Drawers.Drawer
  private typealias Label = Drawers.Label
  let context: ModelContext

  init() throws { context = try Library.context(of: Drawers.Drawer.self) }

  /// The texts of the labels of all drawers, as another context reads them.
  private func stored() throws -> [[String]] {
    let descriptor = FetchDescriptor<Drawer>(sortBy: [SortDescriptor(\.name)])
    return try ModelContext(context.container).fetch(descriptor).map { $0.labels.map(\.text).sorted() }
  }

  // SWD-04
  @Test func `a deleted model is in no list after the save`() throws {
    let (red, blue) = (Label("red"), Label("blue"))
    let (first, second) = (Drawer("1", [red, blue]), Drawer("2", [blue]))
    context.insert(first)
    context.insert(second)
    try context.save()
    let other = ModelContext(context.container)
    let seen = try other.fetch(FetchDescriptor<Drawer>(sortBy: [SortDescriptor(\.name)]))
    #expect(seen.map(\.labels.count) == [2, 1])
    context.delete(blue)
    try context.save()
    #expect(first.labels == [red] && second.labels.isEmpty && !context.hasChanges)
    #expect(try stored() == [["red"], []])
    #expect(try context.fetchCount(FetchDescriptor<Drawer>(predicate: #Predicate { $0.labels.isEmpty })) == 1)
    other.processPendingChanges()
    #expect(seen.map { $0.labels.map(\.text) } == [["red"], []])
    let last = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last
    let changed = last?.changes.map(\.changedPersistentIdentifier)
    #expect(
      Set(changed ?? []) == [blue.persistentModelID, first.persistentModelID, second.persistentModelID])
  }

  // SWD-04
  @Test func `a reference to a deleted model is nil after the save`() throws {
    let (red, blue) = (Drawers.Colour("red"), Drawers.Colour("blue"))
    let drawers = ["1", "2", "3"].map { Drawer($0) }
    for (drawer, colour) in zip(drawers, [red, red, blue]) {
      context.insert(drawer)
      drawer.colour = colour
    }
    try context.save()
    let other = ModelContext(context.container)
    let seen = try other.fetch(FetchDescriptor<Drawer>(sortBy: [SortDescriptor(\.name)]))
    #expect(seen.map { $0.colour?.name } == ["red", "red", "blue"])
    context.delete(red)
    try context.save()
    #expect(drawers.map { $0.colour?.name } == [nil, nil, "blue"] && !context.hasChanges)
    other.processPendingChanges()
    #expect(seen.map { $0.colour?.name } == [nil, nil, "blue"])
    let without = FetchDescriptor<Drawer>(predicate: #Predicate { $0.colour == nil })
    #expect(try other.fetchCount(without) == 2)
    try other.delete(model: Drawers.Colour.self)
    try other.save()
    #expect(try ModelContext(context.container).fetchCount(without) == 3)
    // One that was never saved.
    let unsaved = Drawers.Colour("green")
    seen[0].colour = unsaved
    other.delete(unsaved)
    try other.save()
    #expect(seen[0].colour == nil)
  }

  // SWD-04
  @Test func `lists that are not in memory lose it too, also by a condition`() throws {
    for number in 0..<3 { context.insert(Drawer("\(number)", [Label("a\(number)"), Label("b\(number)")])) }
    try context.save()
    let other = ModelContext(context.container)
    try other.delete(model: Label.self, where: #Predicate { $0.text.starts(with: "a") })
    try other.save()
    #expect(try stored() == [["b0"], ["b1"], ["b2"]])
    try other.delete(model: Label.self)
    try other.delete(model: Drawer.self, where: #Predicate { $0.name == "1" })
    try other.save()
    #expect(try stored() == [[], []])
  }

  // SWD-04
  @Test func `a rollback gives the lists back, and a model that was never saved leaves them`() throws {
    let (red, drawer) = (Label("red"), Drawer("1"))
    drawer.labels = [red]
    context.insert(drawer)
    try context.save()
    context.delete(red)
    context.rollback()
    #expect(drawer.labels == [red])
    context.delete(red)
    let unsaved = Label("blue")
    drawer.labels.append(unsaved)
    context.delete(unsaved)
    try context.save()
    #expect(drawer.labels.isEmpty)
    #expect(try stored() == [[]])
  }

  // SWD-04
  @Test func `a deletion that is undone after its save is one step, and the model is in no list`() throws {
    let (red, drawer) = (Label("red"), Drawer("1"))
    drawer.labels = [red]
    context.insert(drawer)
    try context.save()
    let undoManager = UndoManager()
    context.undoManager = undoManager
    context.delete(red)
    try context.save()
    undoManager.undo()
    #expect(!undoManager.canUndo && context.insertedModelsArray.count == 1)
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Label>()).map(\.text) == ["red"])
    #expect(drawer.labels.isEmpty)
    #expect(try stored() == [[]])
  }

  // SWD-04
  @Test func `what a cascade deletes leaves the lists of others`() throws {
    let (first, second, key) = (Drawer("1"), Drawer("2"), Drawers.Key(7))
    first.keys = [key]
    second.keys = [key]
    context.insert(first)
    context.insert(second)
    try context.save()
    context.delete(first)
    try context.save()
    #expect(second.keys == [] && key.modelContext == nil)
    #expect(try context.fetchCount(FetchDescriptor<Drawers.Key>()) == 0)
  }
}
