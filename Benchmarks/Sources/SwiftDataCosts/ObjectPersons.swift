import Foundation
import Heartwood

private final class Firm: ManagedObject {
  @Attribute var name = ""
  @Relationship(inverse: { $0.firm }) var members: Set<Member>
}

private final class Member: ManagedObject {
  @Attribute var name = ""
  @Attribute var age: Int64
  @Attribute var score: Double
  @Attribute var isActive = false
  @Attribute var joined: Date?
  @Relationship(inverse: { $0.members }) var firm: Firm?
}

/// Persons of companies as classes of Heartwood.
final class ObjectPersons: PersonStore {
  private let container: PersistentContainer
  private let isObservable: Bool
  private var context: ManagedObjectContext
  private var members: [Member] = []

  /// - Parameter isObservable: Whether the Observation framework sees reads, as it does those of models.
  init(at url: URL, isObservable: Bool) throws {
    container = try PersistentContainer(name: "Members", types: [Firm.self, Member.self], at: url)
    self.isObservable = isObservable
    context = container.newBackgroundContext()
    context.isObservable = isObservable
  }

  func insert(_ count: Int) throws {
    try context.performAndWait {
      let firms = (0..<count / 100).map { number in
        let firm = Firm(context: context)
        firm.name = "firm \(number)"
        return firm
      }
      for number in 0..<count {
        let member = Member(context: context)
        member.name = "member \(number)"
        member.age = Int64(number % 90)
        member.score = Double(number)
        member.isActive = number % 2 == 0
        member.joined = Date(timeIntervalSinceReferenceDate: Double(number))
        member.firm = firms[number / 100]
      }
      try context.save()
    }
  }

  func fetchAndRead() throws -> Int {
    members = []
    context = container.newBackgroundContext()
    context.isObservable = isObservable
    return try context.performAndWait {
      members = try context.fetch(Member.self)
      return members.reduce(0) { $0 &+ Int($1.age) &+ $1.name.utf8.count }
    }
  }

  func readIntegers() -> Int { performing { $0 &+ Int($1.age) } }
  func readTruths() -> Int { performing { $0 &+ ($1.isActive ? 1 : 0) } }
  func readTexts() -> Int { performing { $0 &+ $1.name.utf8.count } }
  func readDates() -> Int { performing { $0 &+ Int($1.joined?.timeIntervalSinceReferenceDate ?? 0) } }
  func readRelated() -> Int { performing { $0 &+ ($1.firm?.name.utf8.count ?? 0) } }

  private func performing(_ next: (Int, Member) -> Int) -> Int {
    context.performAndWait { members.reduce(0, next) }
  }

  func setIntegers() throws -> Int {
    try context.performAndWait {
      for member in members { member.age = (member.age + 1) % 90 }
      try context.save()
      return members.count
    }
  }
}
