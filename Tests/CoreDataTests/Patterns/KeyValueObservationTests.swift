import CoreData
import Testing

@Suite struct `Key-value observation` {
  let context: NSManagedObjectContext

  init() throws { context = try Library.makeContainer().newBackgroundContext() }

  @Test func `each assignment of an observed property is reported with both values`() throws {
    context.performAndWait {
      let author = Author(name: "A", context: context)
      var reports: [String] = []
      let observation = author.observe(\.name, options: [.initial, .old, .new]) { object, change in
        #expect(object === author && change.kind == .setting && !change.isPrior)
        reports.append("\(change.oldValue ?? "-") to \(change.newValue ?? "-")")
      }
      author.name = "B"
      author.setValue("C", forKey: "name")
      author.willChangeValue(forKey: "name")
      author.setPrimitiveValue("D", forKey: "name")
      author.didChangeValue(forKey: "name")
      author.name = "D"
      author.born = Date()
      #expect(reports == ["- to A", "A to B", "B to C", "C to D", "D to D"])
      observation.invalidate()
      author.name = "E"
      #expect(reports.count == 5)
    }
  }

  @Test func `changes of other origin are reported when the event ends`() throws {
    try context.performAndWait {
      let (author, book) = (Author(name: "A", context: context), Book(context: context))
      try context.save()
      var counts: [Int] = []
      var names: [String?] = []
      let books = author.observe(\.books, options: .new) { _, change in
        counts.append(change.newValue?.count ?? -1)
      }
      let names1 = book.observe(\.author?.name, options: .new) { _, change in
        names.append(change.newValue ?? nil)
      }
      book.author = author
      #expect(counts == [1] && names == ["A"])
      author.name = "B"
      #expect(names == ["A", "B"])
      context.rollback()
      context.processPendingChanges()
      #expect(counts == [1, 0] && names == ["A", "B", nil])
      withExtendedLifetime((books, names1)) {}
    }
  }

  @Test func `the state of a context is observed, and an observation ends with its last reference`() throws {
    try context.performAndWait {
      var states: [Bool] = []
      var observation: NSKeyValueObservation? = context.observe(\.hasChanges, options: [.new]) { _, change in
        states.append(change.newValue ?? false)
      }
      let author = Author(name: "A", context: context)
      context.processPendingChanges()
      try context.save()
      #expect(states == [true, false])
      observation = nil
      author.name = "B"
      context.processPendingChanges()
      #expect(states.count == 2 && observation == nil)
    }
  }
}
