import Foundation
import SwiftData
import Testing

@Model final class Worker {
  var name: String
  var nick: String?
  var amount: Double
  var count: Int
  var isActive: Bool
  var hired: Date
  var photo: Data
  var rank: Rank
  var chief: Worker?
  @Relationship(inverse: \Worker.chief) var staff: [Worker] = []

  enum Rank: String, Codable, CaseIterable { case junior, senior }

  init(_ name: String, _ amount: Double) {
    self.name = name
    self.amount = amount
    (count, isActive, hired, photo, rank) = (
      Int(amount), amount > 1, Date(timeIntervalSince1970: amount), Data(), .senior
    )
  }

  var alias: String { name }
  var chiefName: String? { chief?.name }
  var title: String { name.uppercased() }
  var trimmed: String { name.trimmingCharacters(in: .whitespaces) }
  var oneLine: String { name.replacingOccurrences(of: "\n", with: " ") }
  var short: String { String(name.prefix(50)) }
  var rounded: Double { (amount * 100).rounded() / 100 }
  var capped: Int { min(count, 100) }
  var shown: String { name.isEmpty ? "unnamed" : name }
  var call: String? { nick ?? "unnamed" }
  var half: Double { amount / 2 }
  var positive: Double { max(amount, 0) }
  var other: Int { -count }
  var isIdle: Bool { !isActive }
  var day: Date { Calendar.current.startOfDay(for: hired) }
  var picture: Data { photo.isEmpty ? Data([0]) : photo }
  var next: Rank { rank == .junior ? .senior : .senior }
  var active: [Worker] { staff.filter(\.isActive) }
  var ordered: [Worker] { staff.sorted { $0.name < $1.name } }
  var reversed: [Worker] { staff.reversed() }
  var root: Worker? { chief?.chief }
  var leader: Worker? { chief ?? self }
  var chiefOrNone: String { chief?.name ?? "none" }
}

/// Computed properties of the type of the stored one that they read.
@MainActor struct ComputedPropertyTests {
  let context: ModelContext

  init() throws {
    context = ModelContext(
      try ModelContainer(for: Worker.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
    let (ada, bob) = (Worker("ada", 3), Worker("bob", 1))
    context.insert(ada)
    context.insert(bob)
    bob.chief = ada
    try context.save()
  }

  @Test func `no predicate takes a computed property for the stored one`() throws {
    let predicates: [Predicate<Worker>] = [
      #Predicate { $0.title == "ADA" }, #Predicate { $0.trimmed == "ada" }, #Predicate { $0.shown == "ada" },
      #Predicate { $0.call == "unnamed" }, #Predicate { $0.half > 1 }, #Predicate { $0.positive > 1 },
      #Predicate { $0.other < -2 }, #Predicate { $0.isIdle }, #Predicate { $0.active.isEmpty },
      #Predicate { $0.ordered.isEmpty }, #Predicate { $0.reversed.isEmpty },
      #Predicate { $0.oneLine == "ada" },
      #Predicate { $0.short == "ada" }, #Predicate { $0.rounded == 3 }, #Predicate { $0.capped == 3 },
      #Predicate { $0.leader == nil }, #Predicate { $0.chiefOrNone == "none" },
    ]
    for predicate in predicates {
      #expect { try context.fetch(FetchDescriptor(predicate: predicate)) } throws: {
        SwiftDataError.unsupportedPredicate ~= $0
      }
      #expect(throws: (any Error).self) { try context.delete(model: Worker.self, where: predicate) }
    }
    #expect(try context.fetchCount(FetchDescriptor<Worker>()) == 2)
  }

  @Test func `no order takes a computed property for the stored one`() throws {
    let orders: [SortDescriptor<Worker>] = [
      SortDescriptor(\.half), SortDescriptor(\.other), SortDescriptor(\.title), SortDescriptor(\.day),
    ]
    for order in orders {
      #expect { try context.fetch(FetchDescriptor(sortBy: [order])) } throws: {
        SwiftDataError.unsupportedSortDescriptor ~= $0
      }
    }
  }

  @Test func `a computed property that is the stored one is taken for it`() throws {
    let named = FetchDescriptor<Worker>(predicate: #Predicate { $0.alias == "ada" })
    #expect(try context.fetch(named).map(\.name) == ["ada"])
    let led = FetchDescriptor<Worker>(predicate: #Predicate { $0.chiefName == "ada" })
    #expect(try context.fetch(led).map(\.name) == ["bob"])
    let root = FetchDescriptor<Worker>(
      predicate: #Predicate { $0.root == nil }, sortBy: [SortDescriptor(\.name)])
    #expect(try context.fetch(root).map(\.name) == ["ada", "bob"])
    let forced = FetchDescriptor<Worker>(predicate: #Predicate { $0.chief!.name == "ada" && $0.chief != nil })
    #expect(try context.fetch(forced).map(\.name) == ["bob"])
    let sorted = FetchDescriptor<Worker>(sortBy: [SortDescriptor(\.alias, order: .reverse)])
    #expect(try context.fetch(sorted).map(\.name) == ["bob", "ada"])
  }
}
