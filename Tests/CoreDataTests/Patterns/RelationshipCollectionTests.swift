import CoreData
import Foundation
import Testing

/// Every method of the collections that write through, beside plain collections of Swift.
@Suite struct `Collections of relationships` {
  let context: NSManagedObjectContext

  init() throws { context = try Library.makeContainer().newBackgroundContext() }

  private func books(_ count: Int) -> [Book] { Library.books(count, in: context) }

  private static func order(_ left: Any, _ right: Any) -> ComparisonResult {
    guard let left = left as? Book, let right = right as? Book, left.pages != right.pages else {
      return .orderedSame
    }
    return left.pages < right.pages ? .orderedAscending : .orderedDescending
  }

  // MARK: Ordered

  private typealias OrderedChange =
    @Sendable (NSMutableOrderedSet, inout [Book], [Book], inout Numbers) -> Void

  private static let orderedChanges: [OrderedChange] = [
    { set, model, all, numbers in
      let book = numbers.element(of: all)
      set.add(book)
      if !model.contains(book) { model.append(book) }
    },
    { set, model, all, numbers in
      let added = numbers.part(of: all)
      set.addObjects(from: added)
      for book in added where !model.contains(book) { model.append(book) }
    },
    { set, model, all, numbers in
      let added = numbers.part(of: all)
      added.map { $0 as AnyObject }.withUnsafeBufferPointer { set.add($0.baseAddress, count: $0.count) }
      for book in added where !model.contains(book) { model.append(book) }
    },
    { set, model, all, numbers in
      let (book, index) = (numbers.element(of: all), numbers.next(below: model.count + 1))
      set.insert(book, at: index)
      if !model.contains(book) { model.insert(book, at: index) }
    },
    { set, model, all, numbers in
      let added = all.filter { !model.contains($0) }.prefix(2)
      set.insert(Array(added), at: IndexSet(integersIn: 0..<added.count))
      model.insert(contentsOf: added, at: 0)
    },
    // One that is there stays where it is, and those behind it are at the end.
    { set, model, all, numbers in
      let added = numbers.part(of: all)
      set.insert(added, at: IndexSet(integersIn: model.count..<model.count + added.count))
      for book in added where !model.contains(book) { model.append(book) }
    },
    { set, model, all, numbers in
      let (book, index) = (numbers.element(of: all), numbers.next(below: model.count + 1))
      set.setObject(book, at: index)
      guard !model.contains(book) else { return }
      if index == model.count { model.append(book) } else { model[index] = book }
    },
    { set, model, all, numbers in
      guard !model.isEmpty else { return }
      let (book, index) = (numbers.element(of: all), numbers.next(below: model.count))
      set[index] = book
      if !model.contains(book) { model[index] = book }
    },
    { set, model, all, numbers in
      let given = all.filter { !model.contains($0) }.prefix(min(2, model.count))
      set.replaceObjects(at: IndexSet(integersIn: 0..<given.count), with: Array(given))
      for (index, book) in given.enumerated() { model[index] = book }
    },
    { set, model, all, numbers in
      // Members change places, and one may leave for another book.
      let indexes = numbers.part(of: Array(model.indices))
      let members = indexes.map { model[$0] }
      let other = all.filter { !model.contains($0) }.prefix(numbers.next(below: 2))
      let given = Array((members.dropFirst() + other + members.prefix(1)).prefix(indexes.count))
      set.replaceObjects(at: IndexSet(indexes), with: given)
      for (index, book) in zip(indexes, given) { model[index] = book }
    },
    { set, model, all, numbers in
      let place = numbers.range(in: model.count)
      let given = all.filter { !model.contains($0) }.prefix(3)
      given.map { $0 as AnyObject }.withUnsafeBufferPointer {
        set.replaceObjects(in: NSRange(place), with: $0.baseAddress, count: $0.count)
      }
      model.replaceSubrange(place, with: given)
    },
    { set, model, _, numbers in
      guard !model.isEmpty else { return }
      let index = numbers.next(below: model.count)
      set.removeObject(at: index)
      model.remove(at: index)
    },
    { set, model, all, numbers in
      let book = numbers.element(of: all)
      set.remove(book)
      model.removeAll { $0 == book }
    },
    { set, model, all, numbers in
      let removed = numbers.part(of: all)
      set.removeObjects(in: removed)
      model.removeAll(where: removed.contains)
    },
    { set, model, _, numbers in
      let place = numbers.range(in: model.count)
      set.removeObjects(in: NSRange(place))
      model.removeSubrange(place)
    },
    { set, model, _, numbers in
      let indexes = numbers.part(of: Array(model.indices))
      set.removeObjects(at: IndexSet(indexes))
      for index in indexes.reversed() { model.remove(at: index) }
    },
    { set, model, _, numbers in
      guard numbers.next(below: 4) == 0 else { return }
      set.removeAllObjects()
      model = []
    },
    { set, model, _, numbers in
      guard !model.isEmpty else { return }
      let (first, second) = (numbers.next(below: model.count), numbers.next(below: model.count))
      set.exchangeObject(at: first, withObjectAt: second)
      model.swapAt(first, second)
    },
    { set, model, _, numbers in
      let indexes = numbers.part(of: Array(model.indices))
      let target = numbers.next(below: model.count - indexes.count + 1)
      set.moveObjects(at: IndexSet(indexes), to: target)
      let moved = indexes.map { model[$0] }
      for index in indexes.reversed() { model.remove(at: index) }
      model.insert(contentsOf: moved, at: target)
    },
    { set, model, all, numbers in
      let other = numbers.part(of: all)
      set.union(NSOrderedSet(array: other))
      for book in other where !model.contains(book) { model.append(book) }
    },
    { set, model, all, numbers in
      let book = numbers.element(of: all)
      set.unionSet([book])
      if !model.contains(book) { model.append(book) }
    },
    { set, model, all, numbers in
      let other = numbers.part(of: all)
      set.minus(NSOrderedSet(array: other))
      model.removeAll(where: other.contains)
    },
    { set, model, all, numbers in
      let other = numbers.part(of: all)
      set.minusSet(Set(other))
      model.removeAll(where: other.contains)
    },
    { set, model, all, numbers in
      let other = numbers.part(of: all)
      set.intersect(NSOrderedSet(array: other))
      model.removeAll { !other.contains($0) }
    },
    { set, model, all, numbers in
      let other = numbers.part(of: all)
      set.intersectSet(Set(other))
      model.removeAll { !other.contains($0) }
    },
    { set, model, _, _ in
      set.filter(using: NSPredicate(format: "pages > 1"))
      model.removeAll { $0.pages <= 1 }
    },
    { set, model, _, _ in
      set.sort(comparator: `Collections of relationships`.order)
      model.sort { $0.pages < $1.pages }
    },
    { set, model, _, _ in
      set.sort(options: []) { `Collections of relationships`.order($1, $0) }
      model.sort { $0.pages > $1.pages }
    },
    { set, model, _, numbers in
      let place = numbers.range(in: model.count)
      set.sortRange(NSRange(place), options: [], usingComparator: `Collections of relationships`.order)
      model.replaceSubrange(place, with: model[place].sorted { $0.pages < $1.pages })
    },
    { set, model, _, _ in
      set.sort(using: [NSSortDescriptor(key: "pages", ascending: false)])
      model.sort { $0.pages > $1.pages }
    },
  ]

  private func expect(_ set: NSOrderedSet, has model: [Book], of all: [Book]) {
    #expect(set.count == model.count)
    #expect(set.array as? [Book] == model && set.map { $0 as? Book } == model)
    #expect(set.set == Set(model))
    #expect(set.firstObject as? Book == model.first && set.lastObject as? Book == model.last)
    #expect(set.reversed.array as? [Book] == model.reversed())
    #expect(set.objectEnumerator().allObjects as? [Book] == model)
    #expect(set.reverseObjectEnumerator().allObjects as? [Book] == model.reversed())
    #expect(model.indices.map { set.object(at: $0) as? Book } == model)
    #expect(model.indices.map { set[$0] as? Book } == model)
    #expect(set.objects(at: IndexSet(model.indices)) as? [Book] == model)
    for book in all {
      #expect(set.contains(book) == model.contains(book))
      #expect(set.index(of: book) == model.firstIndex(of: book) ?? NSNotFound)
    }
    for copy in [set.copy(), set.mutableCopy(), NSOrderedSet(orderedSet: set)] {
      #expect((copy as? NSOrderedSet)?.array as? [Book] == model)
    }
    #expect(set.copy() is NSMutableOrderedSet == false && set.mutableCopy() is NSMutableOrderedSet)
    let plain = NSOrderedSet(array: model)
    #expect(set.isEqual(to: plain) && plain.isEqual(to: set) && set.isEqual(plain))
    #expect(set.isSubset(of: plain) && plain.isSubset(of: set) && set.isSubset(of: Set(all)))
    #expect(set.intersects(plain) == !model.isEmpty && set.intersectsSet(Set(all)) == !model.isEmpty)
    expect(set, isSearchedAs: model)
    #expect(set.description == plain.description)
  }

  private func expect(_ set: NSOrderedSet, isSearchedAs model: [Book]) {
    let few = model.filter { $0.pages < 3 }
    #expect(set.filtered(using: NSPredicate(format: "pages < 3")).array as? [Book] == few)
    let sorted = model.sorted { $0.pages < $1.pages }
    #expect(set.sortedArray(comparator: Self.order) as? [Book] == sorted)
    #expect(set.sortedArray(options: [], usingComparator: Self.order) as? [Book] == sorted)
    #expect(set.sortedArray(using: [NSSortDescriptor(key: "pages", ascending: true)]) as? [Book] == sorted)
    var (visited, chosen): ([Book?], [Book?]) = ([], [])
    set.enumerateObjects { object, _, _ in visited.append(object as? Book) }
    set.enumerateObjects(options: []) { object, _, _ in chosen.append(object as? Book) }
    #expect(visited == model && chosen == model)
    #expect(
      set.index(ofObjectPassingTest: { object, _, _ in (object as? Book)?.pages == 2 })
        == model.firstIndex { $0.pages == 2 } ?? NSNotFound)
    #expect(
      set.indexes(ofObjectsPassingTest: { object, _, _ in (object as? Book).map { $0.pages < 3 } ?? false })
        == IndexSet(model.indices.filter { model[$0].pages < 3 }))
    #expect((set.value(forKey: "pages") as? NSOrderedSet)?.array as? [Int] == model.map { Int($0.pages) })
  }

  @Test(arguments: 0..<8)
  func `a mutable ordered set reads and changes as an array of distinct objects does`(seed: UInt64) throws {
    try context.performAndWait {
      var numbers = Numbers(seed: seed)
      let (author, all) = (Author(name: "A", context: context), books(8))
      let kept = author.mutableOrderedSetValue(forKey: "shelf")
      var model: [Book] = []
      for step in 0..<120 {
        let change = numbers.element(of: Self.orderedChanges)
        let set = step % 3 == 0 ? author.mutableOrderedSetValue(forKey: "shelf") : kept
        change(set, &model, all, &numbers)
        #expect(author.shelf?.array as? [Book] == model, "seed \(seed), step \(step)")
        #expect(all.allSatisfy { ($0.value(forKey: "shelved") as? Author === author) == model.contains($0) })
        expect(kept, has: model, of: all)
        if step % 40 == 39 { try context.save() }
      }
      try context.save()
      let pages = model.map(\.pages)
      context.reset()
      let stored = try context.fetch(Author.fetchRequest()).first?.shelf?.array as? [Book]
      #expect((stored ?? []).map(\.pages) == pages)
    }
  }

  @Test func `a mutable ordered set follows what changes the relationship elsewhere`() throws {
    try context.performAndWait {
      let (author, all) = (Author(name: "A", context: context), books(4))
      author.shelf = NSOrderedSet(array: Array(all[..<2]))
      try context.save()
      let shelf = author.mutableOrderedSetValue(forKey: "shelf")
      var iterated: [Int32] { shelf.compactMap { ($0 as? Book)?.pages } }
      #expect(iterated == [0, 1])
      all[2].setValue(author, forKey: "shelved")
      #expect(iterated == [0, 1, 2])
      author._managedAdd("shelf", all[3])
      #expect((shelf.lastObject as? Book) === all[3])
      author.shelf = NSOrderedSet(array: [all[3], all[0]])
      #expect(iterated == [3, 0])
      context.delete(all[3])
      context.processPendingChanges()
      #expect(iterated == [0])
      context.rollback()
      #expect(iterated == [0, 1])
      author.setValue(shelf.copy(), forKey: "shelf")
      #expect(author.shelf?.count == 2)
    }
  }

  // MARK: Without an order

  private typealias SetChange = @Sendable (NSMutableSet, inout Set<Book>, [Book], inout Numbers) -> Void

  private static let setChanges: [SetChange] = [
    { set, model, all, numbers in
      let book = numbers.element(of: all)
      set.add(book)
      model.insert(book)
    },
    { set, model, all, numbers in
      let added = numbers.part(of: all)
      set.addObjects(from: added)
      model.formUnion(added)
    },
    { set, model, all, numbers in
      let added = numbers.part(of: all)
      set.union(Set(added))
      model.formUnion(added)
    },
    { set, model, all, numbers in
      let book = numbers.element(of: all)
      set.remove(book)
      model.remove(book)
    },
    { set, model, all, numbers in
      let removed = numbers.part(of: all)
      set.minus(Set(removed))
      model.subtract(removed)
    },
    { set, model, all, numbers in
      let kept = numbers.part(of: all)
      set.intersect(Set(kept))
      model.formIntersection(kept)
    },
    { set, model, all, numbers in
      let given = numbers.part(of: all)
      set.setSet(Set(given))
      model = Set(given)
    },
    { set, model, _, numbers in
      guard numbers.next(below: 4) == 0 else { return }
      set.removeAllObjects()
      model = []
    },
    { set, model, _, _ in
      set.filter(using: NSPredicate(format: "pages > 1"))
      model = model.filter { $0.pages > 1 }
    },
  ]

  private func expect(_ set: NSSet, has model: Set<Book>, of all: [Book]) {
    #expect(set.count == model.count && set.hash == NSSet(array: Array(model)).hash)
    #expect(Set(set.allObjects as? [Book] ?? []) == model && Set(set.compactMap { $0 as? Book }) == model)
    #expect(Set(set.objectEnumerator().allObjects as? [Book] ?? []) == model)
    #expect((set.anyObject() as? Book).map(model.contains) ?? model.isEmpty)
    for book in all {
      #expect(set.contains(book) == model.contains(book))
      #expect((set.member(book) as? Book == book) == model.contains(book))
      #expect(set.adding(book) == model.union([book]) as Set<AnyHashable>)
    }
    #expect(!set.contains("a text") && set.member(3) == nil)
    #expect(set.addingObjects(from: all) == Set(all) && set.addingObjects(from: Set(all)) == Set(all))
    let plain = NSSet(array: Array(model))
    #expect(set.isEqual(plain) && plain.isEqual(set) && set.isEqual(to: model) && set.isEqual(set))
    #expect(set.isSubset(of: Set(all)) && set.intersects(Set(all)) == !model.isEmpty)
    for copy in [set.copy(), set.mutableCopy(), NSSet(set: set)] { #expect(copy as? Set<Book> == model) }
    #expect(set.copy() is NSMutableSet == false && set.mutableCopy() is NSMutableSet)
    let few = model.filter { $0.pages < 3 }
    #expect(set.filtered(using: NSPredicate(format: "pages < 3")) == few as Set<AnyHashable>)
    #expect(
      set.objects(passingTest: { object, _ in (object as? Book).map { $0.pages < 3 } ?? false }) == few
        as Set<AnyHashable>)
    let sorted = model.sorted { $0.pages < $1.pages }
    #expect(set.sortedArray(using: [NSSortDescriptor(key: "pages", ascending: true)]) as? [Book] == sorted)
    var visited: [Book] = []
    set.enumerateObjects { object, _ in if let book = object as? Book { visited.append(book) } }
    #expect(Set(visited) == model && visited.count == model.count)
    #expect(set.value(forKey: "pages") as? Set<Int> == Set(model.map { Int($0.pages) }))
    #expect(set.description.count == plain.description.count)
  }

  @Test(arguments: 0..<8)
  func `a mutable set reads and changes as a set of Swift does`(seed: UInt64) {
    context.performAndWait {
      var numbers = Numbers(seed: seed)
      let (author, all) = (Author(name: "A", context: context), books(8))
      let set = author.mutableSetValue(forKey: "books")
      var model: Set<Book> = []
      for step in 0..<60 {
        numbers.element(of: Self.setChanges)(set, &model, all, &numbers)
        #expect(author.books == model, "seed \(seed), step \(step)")
        #expect(all.allSatisfy { ($0.author === author) == model.contains($0) })
        expect(set, has: model, of: all)
      }
      #expect(set.isEqual(author.mutableSetValue(forKey: "books")))
    }
  }

  @Test func `collections that write through are values of other relationships`() {
    context.performAndWait {
      let (first, second) = (Author(name: "A", context: context), Author(name: "B", context: context))
      let all = books(3)
      first.books = Set(all)
      first.shelf = NSOrderedSet(array: all)
      second.setValue(first.mutableSetValue(forKey: "books"), forKey: "books")
      second.shelf = first.mutableOrderedSetValue(forKey: "shelf")
      #expect(second.books == Set(all) && first.books.isEmpty)
      #expect(second.shelf?.array as? [Book] == all && first.shelf?.count == 0)
    }
  }

  @Test func `what is no managed object ends the program where it is added`() async {
    await #expect(processExitsWith: .failure) {
      let context = try Library.makeContainer().newBackgroundContext()
      context.performAndWait {
        Author(name: "A", context: context).mutableSetValue(forKey: "books").add("text")
      }
    }
    await #expect(processExitsWith: .failure) {
      let context = try Library.makeContainer().newBackgroundContext()
      context.performAndWait {
        Author(name: "A", context: context).mutableOrderedSetValue(forKey: "shelf").add("text")
      }
    }
  }

  // MARK: Values

  @Test func `decimal numbers are distinct values of a set`() {
    context.performAndWait {
      let author = Author(name: "A", context: context)
      author.books = Set(books(8))
      let prices = author.value(forKeyPath: "books.price") as? NSSet
      #expect(prices?.count == 5 && prices?.contains(NSNumber(value: 3)) == true)
      #expect((author.value(forKeyPath: "books.@distinctUnionOfObjects.price") as? [Any])?.count == 5)
      #expect(Set(author.books.compactMap { $0.price.map { $0 as AnyHashable } }).count == 5)
      let given = [0, 1, 0].enumerated().map { index, price in
        ["price": NSDecimalNumber(value: price), "index": index] as NSDictionary
      }
      #expect((NSSet(array: given).value(forKeyPath: "price") as? NSSet)?.count == 2)
      for (number, plain) in [(NSDecimalNumber(string: "2.5"), 2.5), (NSDecimalNumber(value: -7), -7)] {
        let book = Book(context: context)
        book.price = number
        #expect(book.price?.hash == NSNumber(value: plain).hash && book.price == number)
      }
    }
  }

  @Test func `an operator after the name of a value is one over the collection of values`() {
    context.performAndWait {
      let author = Author(name: "A", context: context)
      author.books = Set(books(8))
      #expect(author.value(forKeyPath: "books.price.@count") as? Int == 5)
      author.setValue("T", forKeyPath: "books.title")
      #expect(author.value(forKeyPath: "books.title.length.@max.self") as? Int == 1)
      #expect(author.value(forKeyPath: "books.author.books.@count") as? Int == 1)
      let lists = NSArray(array: [NSArray(array: ["x", "yy"]), NSArray(array: ["zzz"])])
      #expect((lists.value(forKeyPath: "length") as? [[Int]]) == [[1, 2], [3]])
    }
  }

  @Test func `a key path sets a property of all destinations`() {
    context.performAndWait {
      let author = Author(name: "A", context: context)
      author.books = Set(books(3))
      author.setValue("T", forKeyPath: "books.title")
      #expect(author.books.allSatisfy { $0.title == "T" })
      author.setValue("B", forKeyPath: "books.author.name")
      #expect(author.name == "B")
      NSArray(array: Array(author.books)).setValue(9, forKey: "pages")
      #expect(author.books.allSatisfy { $0.pages == 9 })
      Book(context: context).setValue("C", forKeyPath: "author.name")
    }
  }
}

/// Numbers that follow from a seed.
private struct Numbers {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

  mutating func next(below bound: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int(state >> 33) % bound
  }

  mutating func element<Element>(of elements: [Element]) -> Element { elements[next(below: elements.count)] }

  /// Some of the elements, in their order.
  mutating func part<Element>(of elements: [Element]) -> [Element] {
    elements.filter { _ in next(below: 3) == 0 }
  }

  mutating func range(in count: Int) -> Range<Int> {
    let start = next(below: count + 1)
    return start..<start + next(below: count - start + 1)
  }
}
