import Foundation
import Heartwood
import Testing

private final class Shelf: ManagedObject {
  @Attribute(.unique) var name = ""
  @Relationship(inverse: { $0.shelf }) var parcels: Set<Parcel>
}

private final class Parcel: ManagedObject {
  @Attribute(.unique) var number = 0
  @Attribute(.indexed) var weight = 0
  @Attribute var isSent = false
  @Attribute var due = Date()
  @Relationship(inverse: { $0.parcels }) var shelf: Shelf?
  override class var compoundIndexes: [[String]] { [["isSent", "due"]] }
}

@Suite struct `Examples of the article on performance` {
  @Test func `many objects are written, and read with what is enough`() throws {
    let container = try PersistentContainer(
      name: "Parcels", types: [Shelf.self, Parcel.self], at: URL(fileURLWithPath: "/dev/null"))
    let context = container.newBackgroundContext()
    for start in stride(from: 0, to: 3000, by: 1000) {
      for number in start..<(start + 1000) {
        let parcel = Parcel(context: context)
        parcel.number = number
        parcel.weight = number % 1000
      }
      try context.save()
      context.reset()
    }
    let sending = BatchUpdateRequest(Parcel.self)
    sending.predicate = Where<Parcel> { $0.weight < 10 }
    sending.set(\Parcel.isSent, to: true)
    try context.execute(sending)
    try plans(context)
    try readings(context)
    try batches(context)
  }

  private func plans(_ context: ManagedObjectContext) throws {
    let request = FetchRequest<Parcel>(where: { $0.weight > 900 }, sort: [.ascending(\.weight)], limit: 10)
    print(try context.plan(for: request))
    print(try context.analyze(request))
    #expect("\(try context.plan(for: request))".contains("index: Parcel.weight"))
    let waiting = FetchRequest<Parcel>(where: { $0.isSent == false }, sort: [.ascending(\.due)], limit: 10)
    #expect("\(try context.plan(for: waiting))".contains("index: Parcel.isSent"))
  }

  private func readings(_ context: ManagedObjectContext) throws {
    let count = try context.count(Parcel.self, where: { !$0.isSent })
    let ids = try context.fetchIdentifiers(FetchRequest<Parcel>(where: { !$0.isSent }))
    var total = 0
    try context.enumerateRows(Parcel.self, columns: { ($0.number, $0.weight) }) { number, weight in
      total += weight ?? 0
      return true
    }
    let sums = try context.fetchRows(Parcel.self, columns: { ($0.isSent, $0.weight.sum()) })
    #expect(count == 2970 && ids.count == 2970 && total == 3 * 499_500)
    #expect(sums.compactMap { $0.1 }.reduce(0, +) == total)
  }

  private func batches(_ context: ManagedObjectContext) throws {
    var labels: [String] = []
    let request = FetchRequest<Parcel>(sort: [.ascending(\.number)])
    request.relationshipKeyPathsForPrefetching = ["shelf"]
    try context.enumerate(request, batchSize: 500) { parcels in
      for parcel in parcels { labels.append("\(parcel.number) \(parcel.shelf?.name ?? "")") }
    }
    #expect(labels.count == 3000 && labels.last == "2999 ")
  }
}
