import Foundation
import GraphTestSupport
import Testing

@testable import Heartwood

@Suite struct `Reverting random transactions` {
  @Test(arguments: 1...12) func `the newest is taken back as a whole, and so is that`(seed: UInt64) throws {
    var world = try RevertWorld(seed: seed)
    for round in 0..<40 {
      let before = try world.state()
      guard let number = try world.transaction() else { continue }
      let after = try world.state()
      guard round % 2 == 0 else { continue }
      #expect(try world.revert(number) == [], "seed \(seed), transaction \(number)")
      expectEqual(try world.state(), before, "seed \(seed), transaction \(number)")
      guard round % 4 == 0, world.number > number else { continue }
      #expect(try world.revert(world.number) == [], "seed \(seed), revert of \(number)")
      expectEqual(try world.state(), after, "seed \(seed), revert of \(number)")
    }
    #expect(try world.container.persistentStoreCoordinator.verify().findings.isEmpty, "seed \(seed)")
  }

  @Test(arguments: 1...30) func `of an older one, what later ones have changed stays`(seed: UInt64) throws {
    var world = try RevertWorld(seed: seed)
    for round in 0..<24 {
      let before = try world.state()
      guard let number = try world.transaction() else { continue }
      let after = try world.state()
      guard round > 6 else { continue }
      for _ in 0..<2 { _ = try world.transaction() }
      let now = try world.state()
      let conflicts = try world.revert(number)
      let expectation = RevertExpectation(before: before, after: after, now: now, conflicts: conflicts)
      for finding in expectation.findings(in: try world.state()) {
        Issue.record("seed \(seed), transaction \(number): \(finding)")
      }
    }
    #expect(try world.container.persistentStoreCoordinator.verify().findings.isEmpty, "seed \(seed)")
  }

  @Test(arguments: 1...20) func `all that an author has saved last is taken back as a whole`(seed: UInt64)
    throws
  {
    var world = try RevertWorld(seed: seed)
    for _ in 0..<6 { _ = try world.transaction() }
    for _ in 0..<4 {
      let (before, start) = (try world.state(), world.container.currentHistoryToken)
      for _ in 0..<4 { _ = try world.transaction(author: "import") }
      let context = world.container.newBackgroundContext()
      #expect(try context.revertTransactions(by: "import", after: start) == [], "seed \(seed)")
      try context.save()
      // A reference without an inverse to an object that was gone meanwhile is none.
      let stays = { (state: RevertState) in
        state.mapValues { $0.filter { !["mascot", "guests"].contains($0.key) } }
      }
      expectEqual(stays(try world.state()), stays(before), "seed \(seed)")
      _ = try world.transaction()
    }
  }

  @Test func `many transactions of an author are taken back at once as one after the other`() throws {
    var world = try RevertWorld(seed: 7)
    for _ in 0..<150 { _ = try world.transaction(author: world.random.below(3) == 0 ? "import" : nil) }
    let request = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
    request.author = "import"
    let numbers = try world.container.persistentStoreCoordinator.history(request).transactions.map(
      \.transactionNumber)
    #expect(numbers.count > 30)
    let (single, whole) = (world.container.newBackgroundContext(), world.container.newBackgroundContext())
    var conflicts: [RevertConflict] = []
    for number in numbers.reversed() {
      conflicts += try single.revert(transaction: UInt64(number))
      single.processPendingChanges()
    }
    let found = try whole.revertTransactions(by: "import")
    #expect(found == conflicts)
    func changes(_ context: ManagedObjectContext) -> [Set<ManagedObjectID>] {
      [context.insertedObjects, context.updatedObjects, context.deletedObjects].map {
        Set($0.map(\.objectID))
      }
    }
    #expect(changes(whole) == changes(single))
  }

  private func expectEqual(_ state: RevertState, _ wanted: RevertState, _ comment: String) {
    for identifier in Set(state.keys).union(wanted.keys) where state[identifier] != wanted[identifier] {
      let (found, expected) = (state[identifier] ?? [:], wanted[identifier] ?? [:])
      let differing = Set(found.keys).union(expected.keys).filter { found[$0] != expected[$0] }.sorted()
        .map {
          "\($0) is \(found[$0].map { "\($0)" } ?? "gone"), not \(expected[$0].map { "\($0)" } ?? "gone")"
        }
      Issue.record("\(comment): \(identifier): \(differing.joined(separator: "; "))")
    }
  }
}

/// The state that a store must have after a revert, by a comparison of states alone.
private struct RevertExpectation {
  let before: RevertState
  let after: RevertState
  let now: RevertState
  let conflicts: [RevertConflict]

  func findings(in result: RevertState) -> [String] {
    let identifiers = Set(before.keys).union(after.keys).union(now.keys).union(result.keys)
    return identifiers.sorted { "\($0)" < "\($1)" }.flatMap { identifier in
      presence(of: identifier, result) + values(of: identifier, result)
    }
  }

  /// An object comes back if the transaction has deleted it, goes if it has inserted it and nothing has changed it, and otherwise stays.
  private func presence(of identifier: ManagedObjectID, _ result: RevertState) -> [String] {
    let isKept = conflicts.contains { $0.objectID == identifier }
    let isLeftOut = conflicts.contains { $0.objectID == identifier && $0.property == nil }
    let isThere = result[identifier] != nil
    let wanted: Bool
    switch (before[identifier], after[identifier]) {
    case (.some, nil): wanted = now[identifier] != nil || !isLeftOut
    case (nil, .some): wanted = now[identifier] != nil && isKept
    default: wanted = now[identifier] != nil
    }
    return isThere == wanted ? [] : ["\(identifier) is \(isThere ? "" : "not ")there"]
  }

  private func values(of identifier: ManagedObjectID, _ result: RevertState) -> [String] {
    guard let values = result[identifier], let former = before[identifier] else { return [] }
    return values.compactMap { name, value in
      let (then, present) = (after[identifier]?[name], now[identifier]?[name])
      let isRefused = conflicts.contains { $0.objectID == identifier && $0.property == name }
      if case .many(let members, _) = value {
        return finding(members, former[name]?.members, then?.members, present?.members, result).map {
          "\(identifier).\(name) \($0)"
        }
      }
      guard let present else { return nil }
      let isOfTransaction = then == present && then != former[name]
      let wanted = isOfTransaction && !isRefused ? former[name] : present
      // A partner that came back has its own.
      if value == wanted || then == present && isPartner(value, of: identifier) { return nil }
      return "\(identifier).\(name) is \(value), not \(String(describing: wanted))"
    }
  }

  /// The members that later transactions have added and removed stay so.
  private func finding(
    _ members: [ManagedObjectID], _ former: [ManagedObjectID]?, _ then: [ManagedObjectID]?,
    _ present: [ManagedObjectID]?, _ result: RevertState
  ) -> String? {
    guard let then, let present else { return nil }
    let added = Set(present).subtracting(then).filter { result[$0] != nil }
    if !added.isSubset(of: members) { return "lost \(added.subtracting(members))" }
    let removed = Set(then).subtracting(present).filter { now[$0] != nil }
    if !removed.isDisjoint(with: members) { return "has \(removed.intersection(members)) again" }
    return nil
  }

  /// Whether a value is an object that came back or got its former value with its side of a relationship.
  private func isPartner(_ value: RevertValue, of identifier: ManagedObjectID) -> Bool {
    guard case .one = value else { return false }
    return value.members.allSatisfy { partner in
      before[partner]?.values.contains { $0.members.contains(identifier) } == true
    }
  }
}
