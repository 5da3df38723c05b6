import Foundation
import SwiftData

@Model
private final class Firm {
  var name: String = ""
  var members: [Member] = []
  init(name: String) { self.name = name }
}

@Model
private final class Member {
  var name: String = ""
  var age: Int = 0
  var score: Double = 0
  var isActive: Bool = false
  var joined: Date?
  var firm: Firm?

  init(name: String, age: Int, score: Double, isActive: Bool, joined: Date, firm: Firm) {
    (self.name, self.age, self.score) = (name, age, score)
    (self.isActive, self.joined, self.firm) = (isActive, joined, firm)
  }
}

/// The same persons as models of the module SwiftData.
final class ModelPersons: PersonStore {
  private let container: ModelContainer
  private var context: ModelContext
  private var members: [Member] = []

  init(at url: URL) throws {
    container = try ModelContainer(for: Member.self, configurations: ModelConfiguration(url: url))
    context = ModelContext(container)
  }

  func insert(_ count: Int) throws {
    let firms = (0..<count / 100).map { Firm(name: "firm \($0)") }
    for firm in firms { context.insert(firm) }
    for number in 0..<count {
      context.insert(
        Member(
          name: "member \(number)", age: number % 90, score: Double(number), isActive: number % 2 == 0,
          joined: Date(timeIntervalSinceReferenceDate: Double(number)), firm: firms[number / 100]))
    }
    try context.save()
  }

  func fetchAndRead() throws -> Int {
    members = []
    context = ModelContext(container)
    members = try context.fetch(FetchDescriptor<Member>())
    return members.reduce(0) { $0 &+ $1.age &+ $1.name.utf8.count }
  }

  func readIntegers() -> Int { members.reduce(0) { $0 &+ $1.age } }
  func readTruths() -> Int { members.reduce(0) { $0 &+ ($1.isActive ? 1 : 0) } }
  func readTexts() -> Int { members.reduce(0) { $0 &+ $1.name.utf8.count } }
  func readDates() -> Int {
    members.reduce(0) { $0 &+ Int($1.joined?.timeIntervalSinceReferenceDate ?? 0) }
  }
  func readRelated() -> Int { members.reduce(0) { $0 &+ ($1.firm?.name.utf8.count ?? 0) } }

  func setIntegers() throws -> Int {
    for member in members { member.age = (member.age + 1) % 90 }
    try context.save()
    return members.count
  }
}
