import CoreData
import Foundation
import SwiftData
import Testing

@Model final class Locker {
  @Attribute(.unique) var number: String
  var holder: Int
  @Relationship(deleteRule: .cascade, inverse: \LockerItem.locker) var items: [LockerItem] = []

  init(_ number: String, holder: Int, items: [LockerItem] = []) {
    self.number = number
    self.holder = holder
    self.items = items
  }
}

@Model final class LockerItem {
  var name: String
  var locker: Locker?

  init(_ name: String) { self.name = name }
}

@Model final class LockerPhoto {
  @Attribute(.externalStorage) var bytes: Data

  init(_ bytes: Data) { self.bytes = bytes }
}

/// The state of models after saves: those of their own context and those of others.
struct LifetimeTests {
  private func context() throws -> ModelContext { try Library.context(of: Locker.self, LockerItem.self) }

  // MARK: Unique values

  // SWD-02
  @Test(arguments: [false, true])
  func `a model that is inserted with a stored unique value is the stored one after the save`(isHeld: Bool)
    throws
  {
    let context = try context()
    var first: Locker? = Locker("1", holder: 1)
    context.insert(try #require(first))
    try context.save()
    if !isHeld { first = nil }
    let second = Locker("1", holder: 2, items: [LockerItem("shoe")])
    context.insert(second)
    try context.save()
    #expect(second.modelContext === context && !second.hasChanges)
    #expect(first == nil || first == second && first?.holder == 2)
    second.holder = 3
    second.items.append(LockerItem("hat"))
    #expect(second.hasChanges && context.hasChanges)
    try context.save()
    let stored = try #require(try ModelContext(context.container).fetch(FetchDescriptor<Locker>()).first)
    #expect(stored.holder == 3 && Set(stored.items.map(\.name)) == ["shoe", "hat"])
    #expect(try context.fetch(FetchDescriptor<Locker>()) == [second])
  }

  // SWD-02
  @Test func `all models of a row are deleted with it`() throws {
    let context = try context()
    let (first, second) = (Locker("1", holder: 1), Locker("1", holder: 2))
    for locker in [first, second] {
      context.insert(locker)
      try context.save()
    }
    context.delete(second)
    #expect(first.isDeleted && second.isDeleted)
    try context.save()
    for locker in [first, second] { #expect(locker.modelContext == nil && locker.holder == 2) }
    #expect(try context.fetchCount(FetchDescriptor<Locker>()) == 0)
  }

  // SWD-14
  @Test func `a deleted model keeps its data, which had a file of their own`() throws {
    try Library.inFolder { folder in
      let container = try ModelContainer(
        for: Schema([LockerPhoto.self]),
        configurations: ModelConfiguration(url: folder.appending(path: "photos")))
      let bytes = Data(repeating: 7, count: 300_000)
      let context = ModelContext(container)
      context.insert(LockerPhoto(bytes))
      try context.save()
      let other = ModelContext(container)
      let photo = try #require(try other.fetch(FetchDescriptor<LockerPhoto>()).first)
      other.delete(photo)
      try other.save()
      #expect(photo.modelContext == nil && photo.bytes == bytes)
    }
  }

  // SWD-02
  @Test func `a stored model is not given the unique value of another one`() throws {
    let context = try context()
    let (first, second) = (Locker("1", holder: 1), Locker("2", holder: 2))
    context.insert(first)
    context.insert(second)
    try context.save()
    second.number = "1"
    let error = #expect(throws: SwiftDataError.self) { try context.save() }
    #expect(error == .modelValidationFailure && "\(error as Any)".contains("change or delete one of the two"))
    second.number = "3"
    try context.save()
  }

  // MARK: Deletions of others

  // SWD-14
  @Test func `a model that another context has deleted has no context once that is merged`() throws {
    let mine = try context()
    let locker = Locker("1", holder: 1, items: [LockerItem("shoe")])
    mine.insert(locker)
    try mine.save()
    let other = ModelContext(mine.container)
    for stored in try other.fetch(FetchDescriptor<Locker>()) { other.delete(stored) }
    try other.save()
    mine.processPendingChanges()
    #expect(locker.modelContext == nil && !locker.isDeleted && !locker.hasChanges)
    #expect(locker.number == "1" && locker.items.isEmpty)
    locker.holder = 5
    #expect(!mine.hasChanges)
    mine.insert(locker)
    try mine.save()
    #expect(try other.fetch(FetchDescriptor<Locker>()).map(\.holder) == [5])
  }

  // SWD-14
  @Test func `a context that was idle for many changes has what is stored when it is used`() throws {
    let mine = try context()
    let (kept, gone) = (Locker("kept", holder: 1), Locker("gone", holder: 1))
    mine.insert(kept)
    mine.insert(gone)
    try mine.save()
    let other = ModelContext(mine.container)
    for locker in try other.fetch(FetchDescriptor<Locker>()) {
      if locker.number == "kept" { locker.holder = 2 } else { other.delete(locker) }
    }
    try other.save()
    for number in 0..<21_000 { other.insert(LockerItem("\(number)")) }
    try other.save()
    mine.processPendingChanges()
    #expect(kept.holder == 2 && gone.modelContext == nil && gone.number == "gone")
  }

  // MARK: Threads

  // SWD-19
  @Test func `a model is got while another thread releases it`() async throws {
    let context = try context()
    context.insert(Locker("1", holder: 1))
    try context.save()
    let id = try #require(try context.fetchIdentifiers(FetchDescriptor<Locker>()).first)
    let hand = ReleasingHand()
    let releasing = Task.detached { while hand.release() { await Task.yield() } }
    for _ in 0..<20_000 {
      let found = try #require(context.model(for: id) as? Locker)
      guard found.holder == 1 else { break }
      hand.take(found)
    }
    hand.end()
    await releasing.value
    #expect(try context.fetch(FetchDescriptor<Locker>()).map(\.holder) == [1])
  }

  // MARK: Turns of the main actor

  // SWD-17
  @Test @MainActor func `the main context saves each change by itself, undone ones and those after an error`()
    async throws
  {
    let container = try context().container
    let context = container.mainContext
    context.undoManager = UndoManager()
    let locker = Locker("1", holder: 1)
    context.insert(locker)
    context.insert(Locker("2", holder: 2))
    func waitForSave() async { while context.hasChanges { await Task.yield() } }
    func stored() throws -> [Int] {
      try ModelContext(container).fetch(FetchDescriptor<Locker>()).map(\.holder).sorted()
    }
    await waitForSave()
    locker.holder = 3
    await waitForSave()
    #expect(try stored() == [2, 3])
    context.undoManager?.undo()
    await waitForSave()
    #expect(try stored() == [1, 2])
    locker.number = "2"
    for _ in 0..<10 { await Task.yield() }
    #expect(context.hasChanges)
    locker.number = "4"
    await waitForSave()
    #expect(try stored() == [1, 2])
  }

  // SWD-43
  @Test @MainActor func `an observer of the main context has each change of a model without a save`()
    async throws
  {
    let context = try context().container.mainContext
    context.autosaveEnabled = false
    let locker = Locker("1", holder: 1)
    context.insert(locker)
    try context.save()
    let busy = try ResultsObserver(filterBy: #Predicate<Locker> { $0.holder > 10 }, modelContext: context)
    for (holder, count) in [(5, 0), (11, 1), (12, 1), (3, 0)] {
      locker.holder = holder
      for _ in 0..<10 { await Task.yield() }
      #expect(busy.results.count == count)
    }
  }

  // MARK: Notifications

  // SWD-16
  @Test func `what an observer of willSave changes is in didSave`() throws {
    let context = try context()
    nonisolated(unsafe) let observed = context
    let added = LockerItem("added")
    nonisolated(unsafe) let item = added
    nonisolated(unsafe) var inserted: [PersistentIdentifier] = []
    let key = ModelContext.NotificationKey.insertedIdentifiers.rawValue
    let tokens = [
      NotificationCenter.default.addObserver(forName: ModelContext.willSave, object: context, queue: nil) {
        _ in
        observed.insert(item)
      },
      NotificationCenter.default.addObserver(forName: ModelContext.didSave, object: context, queue: nil) {
        inserted = $0.userInfo?[key] as? [PersistentIdentifier] ?? []
      },
    ]
    defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
    let locker = Locker("1", holder: 1)
    context.insert(locker)
    try context.save()
    #expect(Set(inserted) == [locker.persistentModelID, added.persistentModelID])
  }
}

/// Has models of another thread, until it releases them.
private final class ReleasingHand: @unchecked Sendable {
  private let lock = NSLock()
  private var models: [AnyObject]? = []

  func take(_ model: AnyObject) { lock.withLock { models?.append(model) } }
  func end() { lock.withLock { models = nil } }

  /// - Returns: Whether more may come.
  func release() -> Bool {
    let held = lock.withLock { () -> [AnyObject]? in
      defer { if models != nil { models = [] } }
      return models
    }
    return held != nil
  }
}

/// Two versions of a model without a plan between them, of which the second cannot read what the first has stored.
private enum Former {
  struct Step: Codable, Hashable { var text: String }
  enum Mood: String, Codable { case calm, bad }

  @Model final class Dish {
    var name: String
    var steps: [Step]
    var mood: Mood
    init(name: String, steps: [Step], mood: Mood) {
      self.name = name
      self.steps = steps
      self.mood = mood
    }
  }
}

private enum Present {
  struct Step: Codable, Hashable {
    var text: String
    var minutes: Int
  }
  enum Mood: String, Codable { case calm, worse }

  @Model final class Dish {
    var name: String
    var steps: [Step]
    var mood: Mood
    init(name: String, steps: [Step], mood: Mood) {
      self.name = name
      self.steps = steps
      self.mood = mood
    }
  }
}

struct UnreadableValueTests {
  private func container<Model: PersistentModel>(of model: Model.Type, _ folder: URL) throws -> ModelContainer
  {
    try ModelContainer(
      for: Schema([model]), configurations: ModelConfiguration(url: folder.appending(path: "dishes.store")))
  }

  private func storeFormer(_ folder: URL) throws {
    let context = ModelContext(try container(of: Former.Dish.self, folder))
    context.insert(Former.Dish(name: "soup", steps: [.init(text: "cut"), .init(text: "boil")], mood: .bad))
    try context.save()
  }

  private func steps(_ folder: URL) throws -> [String] {
    let context = ModelContext(try container(of: Former.Dish.self, folder))
    return try context.fetch(FetchDescriptor<Former.Dish>()).flatMap { $0.steps.map(\.text) }
  }

  // SWD-01
  @Test func `a value that its type cannot read is reported once, and is not overwritten by a change of it`()
    throws
  {
    try Library.inFolder { folder in
      try storeFormer(folder)
      try { () throws in
        let context = ModelContext(try container(of: Present.Dish.self, folder))
        let dish = try #require(try context.fetch(FetchDescriptor<Present.Dish>()).first)
        #expect(dish.steps.isEmpty && dish.mood == .calm)
        let error = #expect(throws: SwiftDataError.self) { try context.save() }
        let text = "\(error as Any)"
        #expect(text.contains("minutes") && text.contains("there is none with the raw value bad"))
        dish.name = "stew"
        try context.save()
        dish.steps.append(.init(text: "eat", minutes: 5))
        let refused = #expect(throws: SwiftDataError.self) { try context.save() }
        #expect("\(refused as Any)".contains("steps was not set"))
        try context.save()
      }()
      #expect(try steps(folder) == ["cut", "boil"])
    }
  }

  // SWD-01
  @Test func `a value that its type cannot read is set after a rollback, or where it was not read`() throws {
    for rollsBack in [false, true] {
      try Library.inFolder { folder in
        try storeFormer(folder)
        let context = ModelContext(try container(of: Present.Dish.self, folder))
        let dish = try #require(try context.fetch(FetchDescriptor<Present.Dish>()).first)
        if rollsBack {
          #expect(dish.steps.isEmpty)
          context.rollback()
        }
        dish.steps = [.init(text: "all", minutes: 1)]
        try context.save()
        let stored = try ModelContext(context.container).fetch(FetchDescriptor<Present.Dish>()).first
        #expect(stored?.steps == [.init(text: "all", minutes: 1)])
      }
    }
  }
}
