import Foundation
import Observation
import SwiftData
import Testing

/// Relationships that are read again and again between changes.
struct RepeatedReadTests {
  private func context() throws -> ModelContext { try Library.context(of: Locker.self, LockerItem.self) }

  private func storage(_ locker: Locker) -> UnsafeRawPointer? {
    locker.items.withUnsafeBytes { $0.baseAddress }
  }

  @Test func `a list that is read again is not made again until it changes or the context is saved`() throws {
    let context = try context()
    let locker = Locker("1", holder: 1, items: (0..<20).map { LockerItem("\($0)") })
    context.insert(locker)
    try context.save()
    _ = locker.items
    let kept = locker.items
    let address = kept.withUnsafeBytes { $0.baseAddress }
    for index in kept.indices { #expect(locker.items[index] === kept[index]) }
    #expect(storage(locker) == address)
    kept[3].locker = nil
    #expect(locker.items.count == 19 && !locker.items.contains(kept[3]) && kept.count == 20)
    #expect(storage(locker) != address)
    locker.items.append(kept[3])
    #expect(locker.items.count == 20 && Set(locker.items) == Set(kept))
    context.delete(kept[5])
    try context.save()
    #expect(locker.items.count == 19 && locker.items.allSatisfy { $0.modelContext === context })
  }

  @Test func `a list that is read once keeps none of its models`() throws {
    let context = try context()
    context.insert(Locker("1", holder: 1, items: [LockerItem("a")]))
    try context.save()
    let reader = ModelContext(context.container)
    let locker = try #require(try reader.fetch(FetchDescriptor<Locker>()).first)
    weak var item: LockerItem?
    item = locker.items.first
    #expect(item == nil)
    // Read again, it is kept until something else happens.
    _ = locker.items
    item = locker.items.first
    #expect(item != nil)
    try reader.save()
    reader.processPendingChanges()
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `lists read twice after each random change are those of a model`(seed: UInt64) throws {
    var state = seed &* 0x9E37_79B9_7F4A_7C15
    func below(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    let context = try context()
    context.autosaveEnabled = false
    let lockers = (0..<2).map { Locker("\($0)", holder: $0) }
    var items = (0..<12).map { LockerItem("\($0)") }
    for locker in lockers { context.insert(locker) }
    for item in items { context.insert(item) }
    try context.save()
    var (home, saved): ([LockerItem: Locker], [LockerItem: Locker]) = ([:], [:])
    for step in 0..<200 {
      let (locker, item) = (lockers[below(2)], items[below(items.count)])
      switch below(11) {
      case 0, 1:
        item.locker = locker
        home[item] = locker
      case 2:
        item.locker = nil
        home[item] = nil
      case 3:
        locker.items.append(item)
        home[item] = locker
      case 4:
        locker.items.removeAll { $0 === item }
        if home[item] === locker { home[item] = nil }
      case 5:
        try context.save()
        saved = home
      case 8:
        locker.items.insert(item, at: below(locker.items.count + 1))
        home[item] = locker
      case 9 where !locker.items.isEmpty:
        let index = below(locker.items.count)
        home[locker.items[index]] = nil
        home[item] = locker
        locker.items[index] = item
      case 10 where !locker.items.isEmpty:
        home[locker.items.remove(at: below(locker.items.count))] = nil
      case 6:
        if below(4) == 0, items.count > 4 {
          try context.save()
          items.removeAll { $0 === item }
          home[item] = nil
          context.delete(item)
          if below(2) == 0 { try context.save() } else { context.processPendingChanges() }
          try context.save()
          saved = home
        }
      case 7:
        context.rollback()
        home = saved
      default: break
      }
      for locker in lockers {
        let expected = Set(home.filter { $0.value === locker }.keys)
        for _ in 0..<3 { #expect(Set(locker.items) == expected, "seed \(seed), step \(step)") }
        let list = locker.items
        if below(3) == 0 { context.processPendingChanges() }
        #expect(locker.items == list, "seed \(seed), step \(step)")
      }
    }
  }

  @Test func `a list that is kept shows what others have saved`() throws {
    let context = try context()
    let locker = Locker("1", holder: 1, items: [LockerItem("a"), LockerItem("b")])
    context.insert(locker)
    try context.save()
    #expect(locker.items.count == 2 && locker.items.count == 2)
    let other = ModelContext(context.container)
    let theirs = try #require(try other.fetch(FetchDescriptor<Locker>()).first)
    #expect(theirs.items.count == 2 && theirs.items.count == 2)
    theirs.items.append(LockerItem("c"))
    try other.save()
    _ = try context.fetch(FetchDescriptor<Locker>())
    #expect(locker.items.count == 3 && locker.items.count == 3)
    try other.delete(model: LockerItem.self, where: #Predicate { $0.name == "a" })
    try other.save()
    _ = try context.fetch(FetchDescriptor<Locker>())
    #expect(Set(locker.items.map(\.name)) == ["b", "c"])
  }

  @Test func `lists that are read in turn are not made again`() throws {
    let context = try context()
    let lockers = (0..<4).map { Locker("\($0)", holder: $0, items: [LockerItem("a"), LockerItem("b")]) }
    for locker in lockers { context.insert(locker) }
    try context.save()
    for locker in lockers { #expect(locker.items.count == 2 && locker.items.count == 2) }
    let kept = lockers.map(storage)
    for index in 0..<8 { #expect(storage(lockers[index % 4]) == kept[index % 4]) }
  }

  @Test func `a list that was appended to is read as it was set`() throws {
    let context = try context()
    let locker = Locker("1", holder: 1, items: [LockerItem("a"), LockerItem("b")])
    context.insert(locker)
    try context.save()
    for index in 0..<20 {
      locker.items.append(LockerItem("\(index)"))
      let address = storage(locker)
      #expect(storage(locker) == address && locker.items.last?.name == "\(index)")
    }
    locker.items.removeLast()
    let address = storage(locker)
    #expect(storage(locker) == address && locker.items.count == 21)
    context.rollback()
    #expect(Set(locker.items.map(\.name)) == ["a", "b"])
  }

  @Test func `a list that is appended to keeps only the model that is added`() throws {
    let container = try context().container
    let writer = ModelContext(container)
    writer.insert(Locker("1", holder: 1, items: [LockerItem("a"), LockerItem("b")]))
    try writer.save()
    let context = ModelContext(container)
    let locker = try #require(try context.fetch(FetchDescriptor<Locker>()).first)
    weak var stored: LockerItem?
    weak var added: LockerItem?
    do {
      stored = locker.items.first
      _ = locker.items
      let item = LockerItem("c")
      added = item
      locker.items.append(item)
    }
    context.processPendingChanges()
    #expect(stored == nil && added != nil)
    try context.save()
    #expect(added == nil && locker.items.count == 3)
  }

  @Test func `models that are inserted by an append may belong to the same list`() throws {
    let context = try context()
    let locker = Locker("1", holder: 1, items: [LockerItem("a")])
    context.insert(locker)
    try context.save()
    #expect(locker.items.count == 1 && locker.items.count == 1)
    let item = LockerItem("b")
    item.locker = locker
    #expect(Set(locker.items.map(\.name)) == ["a", "b"])
    locker.items.append(item)
    locker.items.append(contentsOf: [LockerItem("c"), item, locker.items[0]])
    #expect(locker.items.count == 3 && Set(locker.items.map(\.name)) == ["a", "b", "c"])
    try context.save()
    #expect(locker.items.count == 3)
  }

  @Test func `a list has the models of its own context, also of those that are set`() throws {
    let context = try context()
    let locker = Locker("1", holder: 1, items: [LockerItem("a")])
    context.insert(locker)
    context.insert(LockerItem("b"))
    try context.save()
    let other = ModelContext(context.container)
    let theirs = try #require(
      try other.fetch(FetchDescriptor<LockerItem>(predicate: #Predicate { $0.name == "b" })).first)
    #expect(locker.items.count == 1 && locker.items.count == 1)
    locker.items.append(theirs)
    #expect(locker.items.count == 2 && locker.items.allSatisfy { $0.modelContext === context })
    locker.items = [theirs]
    #expect(locker.items.count == 1 && locker.items.allSatisfy { $0.modelContext === context })
  }

  @Test func `a list that is kept is observed`() throws {
    let context = try context()
    let locker = Locker("1", holder: 1, items: [LockerItem("a")])
    context.insert(locker)
    try context.save()
    #expect(locker.items.count == 1 && locker.items.count == 1)
    nonisolated(unsafe) var changes = 0
    for _ in 0..<3 {
      withObservationTracking {
        _ = locker.items
      } onChange: {
        changes += 1
      }
      locker.items.append(LockerItem("b"))
    }
    #expect(changes == 3)
  }

  @Test func `a list that is kept does not keep its context`() throws {
    let container = try context().container
    weak var kept: LockerItem?
    do {
      let context = ModelContext(container)
      let locker = Locker("1", holder: 1, items: [LockerItem("a")])
      context.insert(locker)
      try context.save()
      _ = locker.items
      kept = locker.items.first
      #expect(kept != nil)
    }
    #expect(kept == nil)
  }
}
