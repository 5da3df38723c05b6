import CoreData
import Foundation
import HeartwoodFaults
import Testing

/// Ordered sets that write through, with more objects than are compared for a change.
@Suite struct `Long ordered relationships` {
  let context: NSManagedObjectContext

  init() throws { context = try Library.makeContainer().newBackgroundContext() }

  private func books(_ count: Int) -> [Book] { Library.books(count, in: context) }

  private static func change(
    _ set: NSMutableOrderedSet, _ model: inout [Book], _ others: inout [Book], _ random: inout SplitMix64
  ) {
    let (index, target) = (random.below(model.count), random.below(model.count))
    switch random.below(9) {
    case 0:
      others.append(model.remove(at: index))
      set.removeObject(at: index)
    case 1:
      others.append(model.removeLast())
      set.remove(others[others.count - 1])
    case 2:
      guard let book = others.popLast() else { return }
      set.add(book)
      model.append(book)
    case 3:
      guard let book = others.popLast() else { return }
      set.insert(book, at: index)
      model.insert(book, at: index)
    case 4:
      set.exchangeObject(at: index, withObjectAt: target)
      model.swapAt(index, target)
    case 5:
      set.moveObjects(at: IndexSet(integer: index), to: target)
      model.insert(model.remove(at: index), at: target)
    case 6:
      let indexes = IndexSet((0..<1 + random.below(6)).map { _ in random.below(model.count) })
      let place = random.below(model.count - indexes.count + 1)
      set.moveObjects(at: indexes, to: place)
      let moved = indexes.map { model[$0] }
      for index in indexes.reversed() { model.remove(at: index) }
      model.insert(contentsOf: moved, at: place)
    case 7:
      let removed = [model[index], model[target]]
      set.minusSet(Set(removed))
      model.removeAll(where: removed.contains)
      others += Set(removed)
    default:
      let added = (0..<2).compactMap { _ in others.popLast() }
      set.addObjects(from: [model[index]] + added)
      model += added
    }
  }

  @Test(arguments: 0..<3 as Range<UInt64>)
  func `random changes of some objects leave those of an array`(seed: UInt64) throws {
    try context.performAndWait {
      var random = SplitMix64(seed: 0x6c6f_6e67 + seed)
      let author = Author(name: "A", context: context)
      let all = books(720)
      var (model, others) = (Array(all[..<600]), Array(all[600...]))
      author.shelf = NSOrderedSet(array: model)
      let set = author.mutableOrderedSetValue(forKey: "shelf")
      for step in 0..<150 {
        Self.change(set, &model, &others, &random)
        let index = random.below(model.count)
        let isEqual =
          set.array as? [Book] == model && set.count == model.count && set.index(of: model[index]) == index
          && set.set == Set(model) && others.allSatisfy { set.index(of: $0) == NSNotFound }
        try #require(isEqual, "seed \(seed), step \(step)")
        if step % 10 == 9 {
          try #require(author.shelf?.array as? [Book] == model, "seed \(seed), step \(step)")
        }
        switch random.below(20) {
        case 0:
          // Changed elsewhere, and by both sides.
          model[0].setValue(nil, forKey: "shelved")
          others.append(model.removeFirst())
        case 1: try context.save()
        default: break
        }
      }
      try context.save()
      context.reset()
      let stored = try context.fetch(Author.fetchRequest()).first?.shelf?.array as? [Book]
      #expect((stored ?? []).map(\.pages).count == model.count)
    }
  }

  @Test func `the set of a relationship is the same object until the event ends`() {
    context.performAndWait {
      let author = Author(name: "A", context: context)
      let all = books(4)
      func shelf() -> NSMutableOrderedSet { author.mutableOrderedSetValue(forKey: "shelf") }
      let first = shelf()
      for book in all[..<3] {
        shelf().add(book)
        #expect(shelf() === first)
      }
      shelf().moveObjects(at: IndexSet(integer: 2), to: 0)
      #expect(shelf() === first && first.array as? [Book] == [all[2], all[0], all[1]])
      all[3].setValue(author, forKey: "shelved")
      #expect(shelf() !== first && shelf().isEqual(to: first) && first.count == 4)
      let second = shelf()
      context.processPendingChanges()
      #expect(shelf() !== second && shelf().isEqual(to: second))
    }
  }

  @Test func `the value of a relationship that is read again is the same collection until it changes`() {
    context.performAndWait {
      let author = Author(name: "A", context: context)
      let all = books(4)
      author.shelf = NSOrderedSet(array: Array(all[..<3]))
      author.books = Set(all[..<3])
      for key in ["shelf", "books"] {
        func value() -> AnyObject? { author.value(forKey: key) as AnyObject? }
        _ = value()
        let second = value()
        #expect(value() === second && (value() as? NSOrderedSet)?.count ?? (value() as? NSSet)?.count == 3)
        all[3].setValue(author, forKey: key == "shelf" ? "shelved" : "author")
        #expect((value() as? NSOrderedSet)?.count ?? (value() as? NSSet)?.count == 4)
        #expect((second as? NSOrderedSet)?.count ?? (second as? NSSet)?.count == 3)
        let mutable = author.mutableOrderedSetValue(forKey: "shelf")
        #expect(value() !== mutable && author.shelf !== mutable)
      }
    }
  }

  @Test func `a collection that was read goes with the event, a refresh or a reset`() throws {
    try context.performAndWait {
      let author = Author(name: "A", context: context)
      author.shelf = NSOrderedSet(array: books(3))
      author.books = Set(books(3))
      try context.save()
      let ends: [(Author) -> Void] = [
        { _ in context.processPendingChanges() }, { context.refresh($0, mergeChanges: false) },
        { _ in context.refreshAllObjects() }, { _ in context.rollback() }, { _ in context.reset() },
      ]
      for end in ends {
        for key in ["shelf", "books"] {
          let author = try #require(try context.existingObject(with: author.objectID) as? Author)
          weak var kept: AnyObject?
          do {
            _ = author.value(forKey: key)
            let value = author.value(forKey: key) as AnyObject
            kept = value
          }
          #expect(kept != nil)
          end(author)
          #expect(kept == nil)
        }
      }
    }
  }
}
