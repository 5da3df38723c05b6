import CoreData
import Foundation
import HeartwoodFaults
import Testing

/// Sets of a relationship that are read again and again between changes.
@Suite struct `Sets that are read between changes` {
  let context: NSManagedObjectContext

  init() throws { context = try Library.makeContainer().newBackgroundContext() }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `sets read after each random change are those of a model, and do not change`(seed: UInt64) throws {
    try context.performAndWait {
      var random = SplitMix64(seed: 0x7365_7473 + seed)
      let authors = ["A", "B"].map { Author(name: $0, context: context) }
      var books = Library.books(12, in: context)
      try context.save()
      var (homes, saved): ([Book: Author], [Book: Author]) = ([:], [:])
      var shelves: [Author: [Book]] = [authors[0]: [], authors[1]: []]
      var savedShelves = shelves
      var held: [(set: NSSet, books: Set<Book>)] = []
      var heldShelves: [(set: NSOrderedSet, books: [Book])] = []
      func shelve(_ book: Book, _ author: Author?) {
        if let author, shelves[author]?.contains(book) == true { return }
        for other in authors { shelves[other]?.removeAll { $0 === book } }
        if let author { shelves[author]?.append(book) }
      }
      for step in 0..<300 {
        let (author, book) = (authors[random.below(2)], books[random.below(books.count)])
        switch random.below(13) {
        case 0, 1, 2:
          book.author = author
          homes[book] = author
        case 3:
          book.author = nil
          homes[book] = nil
        case 4:
          author.books.insert(book)
          homes[book] = author
        case 5:
          author.mutableSetValue(forKey: "books").remove(book)
          if homes[book] === author { homes[book] = nil }
        case 6:
          try context.save()
          (saved, savedShelves) = (homes, shelves)
        case 7:
          if random.below(3) == 0 { context.processPendingChanges() }
        case 8 where random.below(4) == 0:
          context.rollback()
          (homes, shelves) = (saved, savedShelves)
        case 9 where random.below(4) == 0 && books.count > 4:
          books.removeAll { $0 === book }
          homes[book] = nil
          shelve(book, nil)
          context.delete(book)
          try context.save()
          (saved, savedShelves) = (homes, shelves)
        case 10, 11:
          book.setValue(author, forKey: "shelved")
          shelve(book, author)
        case 12:
          book.setValue(nil, forKey: "shelved")
          shelve(book, nil)
        default: break
        }
        for author in authors {
          let expected = Set(homes.filter { $0.value === author }.keys)
          for _ in 0..<1 + random.below(2) {
            #expect(author.books == expected, "seed \(seed), step \(step)")
            let set = try #require(author.value(forKey: "books") as? NSSet)
            #expect(set as? Set<Book> == expected, "seed \(seed), step \(step)")
            held.append((set, expected))
            #expect(author.value(forKeyPath: "books.@count") as? Int == expected.count)
          }
          let shelf = try #require(author.shelf)
          #expect(shelf.array as? [Book] == shelves[author], "seed \(seed), step \(step)")
          for (index, book) in (shelves[author] ?? []).enumerated() {
            #expect(shelf.index(of: book) == index)
          }
          if random.below(3) == 0 { heldShelves.append((shelf, shelves[author] ?? [])) }
        }
        held = held.suffix(6)
        heldShelves = heldShelves.suffix(2)
        for (set, books) in heldShelves {
          #expect(set.array as? [Book] == books, "seed \(seed), step \(step)")
        }
        for (set, books) in held { #expect(set as? Set<Book> == books, "seed \(seed), step \(step)") }
      }
    }
  }

  @Test func `what is read after each change is changed in place`() throws {
    try context.performAndWait {
      let author = Author(name: "A", context: context)
      let books = Library.books(40, in: context)
      func kept() -> AnyObject? { author.relatedObjects(forKey: "books").lastCollection as AnyObject? }
      _ = author.value(forKey: "books")
      _ = author.value(forKey: "books")
      let first = try #require(kept())
      for (index, book) in books.enumerated() {
        book.author = author
        #expect(author.value(forKeyPath: "books.@count") as? Int == index + 1 && kept() === first)
      }
      books[7].author = nil
      #expect((author.value(forKey: "books") as? NSSet)?.contains(books[7]) == false && kept() === first)
      _ = author.shelf
      _ = author.shelf
      let ordered = try #require(author.shelf)
      weak var shelf: NSOrderedSet? = ordered
      books[0].setValue(author, forKey: "shelved")
      #expect(author.shelf !== ordered && author.shelf?.count == 1 && ordered.count == 0)
      shelf = author.shelf
      books[1].setValue(author, forKey: "shelved")
      #expect(author.shelf === shelf && shelf?.array as? [Book] == [books[0], books[1]])
    }
  }

  @Test func `an ordered set that the program changes is its own until it is set`() throws {
    try context.performAndWait {
      let author = Author(name: "A", context: context)
      let books = Library.books(3, in: context)
      author.shelf = NSOrderedSet(array: Array(books[..<2]))
      _ = author.shelf
      let mine = try #require(author.shelf as? NSMutableOrderedSet)
      #expect(mine.copy() is NSMutableOrderedSet == false && mine.mutableCopy() is NSMutableOrderedSet)
      mine.insert(books[2], at: 0)
      mine.remove(books[0])
      #expect(author.shelf?.array as? [Book] == Array(books[..<2]) && mine.index(of: books[1]) == 1)
      books[0].setValue(nil, forKey: "shelved")
      #expect(author.shelf?.array as? [Book] == [books[1]] && mine.array as? [Book] == [books[2], books[1]])
      author.shelf = mine
      #expect(author.shelf?.array as? [Book] == [books[2], books[1]])
      mine.removeAllObjects()
      #expect(author.shelf?.count == 2)
    }
  }
}
