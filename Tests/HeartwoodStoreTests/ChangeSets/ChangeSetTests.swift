import Foundation
import GraphTestSupport
import HeartwoodFaults
import TestSupport
import Testing

@testable import Heartwood

final class Component: ManagedObject {
  @Attribute(.unique) var code: String?
  @Attribute var a: Int64 = 0
  @Attribute var b: String?
  @Attribute var grade: String? = "new"
  @Attribute(.allowsExternalStorage) var picture: Data?
  @Relationship(inverse: { $0.pieces }) var whole: Component?
  @Relationship(inverse: { $0.whole }) var pieces: Set<Component>
  @Relationship(inverse: { $0.parts }) var labels: Set<Sticker>
}

final class Sticker: ManagedObject {
  @Attribute var name = ""
  @Relationship(inverse: { $0.labels }) var parts: Set<Component>
}

/// A copy of a store, with a context.
final class StoreCopy {
  let container: PersistentContainer
  let context: ManagedObjectContext
  var coordinator: PersistentStoreCoordinator { container.persistentStoreCoordinator }

  init(at url: URL) throws {
    container = try PersistentContainer(name: "Parts", types: [Component.self, Sticker.self], at: url)
    context = container.newBackgroundContext()
  }

  /// A copy in another folder, with a lineage of its own.
  func copy(to url: URL) throws -> StoreCopy {
    try coordinator.backup(to: url)
    let copy = try StoreCopy(at: url)
    try copy.coordinator.beginLineage()
    return copy
  }

  func make(_ code: String?, a: Int64 = 0) -> Component {
    let part = Component(context: context)
    part.code = code
    part.a = a
    return part
  }

  func part(_ code: String) throws -> Component? {
    context.refreshAllObjects()
    return try context.fetch(Component.self, where: { $0.code == code }).first
  }

  /// All objects by their origins, as texts.
  func contents() throws -> [String] {
    context.reset()
    let view = try coordinator.historyStore(nil).newestView()
    let replica = try view.replica()
    func name(_ object: ManagedObject?) throws -> String {
      guard let object else { return "nil" }
      let origin = try view.origin(of: RowAddress(object.entity, object.objectID.key), replica)
      return "\(object.entity.name ?? "")/\(origin.lineage.uuidString.prefix(4))/\(origin.key)"
    }
    let parts = try context.fetch(FetchRequest<Component>()).map { part in
      let labels = try part.labels.map(name).sorted().joined(separator: ",")
      let pieces = try part.pieces.map(name).sorted().joined(separator: ",")
      return try "\(name(part)) \(part.code ?? "nil") \(part.a) \(part.b ?? "nil") \(part.grade ?? "nil") "
        + "\(part.picture?.count ?? -1) <\(name(part.whole))> [\(labels)] {\(pieces)}"
    }
    let labels = try context.fetch(FetchRequest<Sticker>()).map { "\(try name($0)) \($0.name)" }
    return (parts + labels).sorted()
  }
}

@Suite struct `Change sets` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  func url(_ name: String) -> URL { URL(fileURLWithPath: folder.path(name)) }

  /// A store with a few objects, and a copy of it.
  func pair() throws -> (StoreCopy, StoreCopy) {
    let first = try StoreCopy(at: url("a"))
    let (one, two) = (first.make("one", a: 1), first.make("two", a: 2))
    two.whole = one
    let label = Sticker(context: first.context)
    label.name = "L"
    one.labels = [label]
    try first.context.save()
    return (first, try first.copy(to: url("b")))
  }

  func set(_ from: StoreCopy, for other: StoreCopy) throws -> ChangeSet {
    try from.coordinator.changeSet(after: other.coordinator.changeSetPositions())
  }

  @Test func `a copy may reclaim its space before its first exchange`() throws {
    let (first, second) = try pair()
    let copied = try #require(second.container.history().last).transactionNumber
    try second.coordinator.reclaim()
    #expect(heartwoodError { _ = try second.coordinator.changeSet(from: UInt64(copied)) } != nil)
    _ = second.make("three")
    try second.context.save()
    try first.coordinator.apply(set(second, for: first))
    #expect(try first.contents() == second.contents())
  }

  func change(_ replica: StoreCopy, _ random: inout SplitMix64) throws {
    let context = replica.context
    context.refreshAllObjects()
    let parts = try context.fetch(FetchRequest<Component>()).sorted { $0.objectID.key < $1.objectID.key }
    let labels = try context.fetch(FetchRequest<Sticker>()).sorted { $0.objectID.key < $1.objectID.key }
    for _ in 0...random.below(3) {
      let part = parts.isEmpty ? nil : parts[random.below(parts.count)]
      switch random.below(9) {
      case 0:
        _ = replica.make(random.below(2) == 0 ? nil : "code \(random.below(12))", a: Int64(random.below(100)))
      case 1:
        let label = Sticker(context: context)
        label.name = "label \(random.below(100))"
        if let part, !part.isDeleted { part.labels.insert(label) }
      case 2: if let part, !part.isDeleted { part.a = Int64(random.below(100)) }
      case 3: if let part, !part.isDeleted { part.b = random.below(3) == 0 ? nil : "b \(random.below(100))" }
      case 4:
        if let part, !part.isDeleted {
          let other = parts[random.below(parts.count)]
          part.whole = other.isDeleted || random.below(4) == 0 ? nil : other
        }
      case 5:
        if let part, !part.isDeleted, !labels.isEmpty {
          let label = labels[random.below(labels.count)]
          guard !label.isDeleted else { continue }
          if part.labels.contains(label) { part.labels.remove(label) } else { part.labels.insert(label) }
        }
      case 6:
        if let part, !part.isDeleted { part.code = random.below(3) == 0 ? nil : "code \(random.below(12))" }
      case 7:
        if let part, !part.isDeleted {
          part.picture = random.below(2) == 0 ? nil : Data(repeating: 7, count: 40_000 + random.below(100))
        }
      default:
        if random.below(3) == 0, let part { context.delete(part) }
        if random.below(6) == 0, let label = labels.first { context.delete(label) }
      }
    }
    do {
      try context.save()
    } catch let error as HeartwoodError where error.code == .managedObjectConstraintMerge {
      context.rollback()
    }
  }

  @Test func `another copy has the same objects after it has applied a change set, also twice`() throws {
    let (first, second) = try pair()
    var random = SplitMix64(seed: 1)
    for round in 0..<20 {
      for _ in 0..<4 { try change(first, &random) }
      let made = try set(first, for: second)
      let read = try ChangeSet(decoding: made.encoded())
      #expect(read == made)
      let report = try second.coordinator.apply(read)
      #expect(!report.wasKnown || made.isEmpty)
      let (ours, theirs) = (try first.contents(), try second.contents())
      #expect(ours == theirs, "round \(round)")
      let count = try second.container.history().count
      #expect(try second.coordinator.apply(read).wasKnown)
      #expect(try second.container.history().count == count)
      // A change that comes back is known.
      #expect(try first.coordinator.apply(set(second, for: first)).changedObjectIDs.isEmpty)
      #expect(try first.contents() == ours)
    }
    #expect(try second.coordinator.verify().findings.isEmpty)
  }

  @Test func `nil stays nil where the model has a default, also in an object that comes back`() throws {
    let (first, second) = try pair()
    try first.part("one")?.grade = nil
    first.make("three").grade = nil
    try first.context.save()
    try second.coordinator.apply(set(first, for: second))
    #expect(try second.part("three")?.code == "three" && second.part("three")?.grade == nil)
    first.context.delete(try #require(try first.part("three")))
    try first.context.save()
    let deletion = try #require(first.container.currentHistoryToken).transactionNumber
    try second.coordinator.apply(set(first, for: second))
    #expect(try first.context.revert(transaction: deletion).isEmpty)
    try first.context.save()
    #expect(try first.part("three")?.code == "three" && first.part("three")?.grade == nil)
    try second.coordinator.apply(set(first, for: second))
    #expect(try first.contents() == second.contents())
  }

  @Test func `an object that came back is sent on by a copy that had it meanwhile`() throws {
    let (first, second) = try pair()
    let third = try first.copy(to: url("c"))
    third.context.delete(try #require(try third.part("one")))
    try third.context.save()
    try second.coordinator.apply(set(third, for: second), policy: .newest)
    let deletion = try #require(second.container.currentHistoryToken).transactionNumber
    #expect(try second.context.revert(transaction: deletion).isEmpty)
    try second.context.save()
    try first.coordinator.apply(set(second, for: first), policy: .newest)
    try third.coordinator.apply(set(first, for: third), policy: .newest)
    #expect(try third.part("one")?.a == 1)
    try third.coordinator.apply(set(second, for: third), policy: .newest)
    #expect(try third.contents().count == first.contents().count)
  }

  @Test func `a text arrives in its own scalars`() throws {
    let (first, second) = try pair()
    for text in ["\u{E9}", "e\u{301}"] {
      try first.part("one")?.b = text
      try first.context.save()
      try second.coordinator.apply(set(first, for: second))
      #expect(try second.part("one")?.b.map { Array($0.utf8) } == Array(text.utf8))
    }
  }

  @Test(arguments: ChangeSetPolicy.allCases) func `a policy decides about what both have changed`(
    policy: ChangeSetPolicy
  ) throws {
    let (first, second) = try pair()
    try second.part("one")?.a = 20
    try second.part("two")?.b = "kept"
    try second.context.save()
    try first.part("one")?.a = 10
    try first.part("two")?.a = 11
    try first.context.save()
    let made = try set(first, for: second)
    guard policy != .error else {
      let error = heartwoodError { try second.coordinator.apply(made) }
      #expect(error?.code == .persistentStoreSaveConflicts && error?.message.contains(".a") == true)
      #expect(try second.part("one")?.a == 20 && second.part("two")?.a == 2)
      return
    }
    let report = try second.coordinator.apply(made, policy: policy)
    #expect(report.conflicts.map(\.property) == ["a"])
    // The first has saved later.
    #expect(try second.part("one")?.a == (policy == .mine ? 20 : 10))
    let two = try #require(try second.part("two"))
    #expect(two.a == 11 && two.b == "kept")
  }

  struct DeleteCase: CaseIterable {
    var policy = ChangeSetPolicy.error
    var changesLink = false
    /// Whether the set is of the copy that has changed the object, not of the one that has deleted it.
    var isOfChange = false
    var hasExchanged = false
    /// Whether it is the first store that has deleted the object.
    var firstDeletes = false

    static let allCases: [DeleteCase] = ChangeSetPolicy.allCases.flatMap { policy in
      (0..<16).map { bits in
        DeleteCase(
          policy: policy, changesLink: bits & 1 != 0, isOfChange: bits & 2 != 0, hasExchanged: bits & 4 != 0,
          firstDeletes: bits & 8 != 0)
      }
    }
  }

  @Test(arguments: DeleteCase.allCases) func `a delete conflicts with a change that its copy has not seen`(
    tried: DeleteCase
  ) throws {
    let (first, second) = try pair()
    if tried.hasExchanged {
      try #require(try first.part("one")).a = 5
      try first.context.save()
      try second.coordinator.apply(set(first, for: second))
      try #require(try second.part("one")).b = "seen"
      try second.context.save()
      try first.coordinator.apply(set(second, for: first))
    }
    let (deleting, changing) = tried.firstDeletes ? (first, second) : (second, first)
    let changed = try #require(try changing.part("two"))
    if tried.changesLink {
      changed.labels = Set(try changing.context.fetch(Sticker.self))
    } else if tried.firstDeletes {
      changed.a = 9
    } else {
      // It was nil before.
      changed.b = "set"
    }
    try changing.context.save()
    try deleting.context.delete(#require(try deleting.part("two")))
    try deleting.context.save()
    let (from, to) = tried.isOfChange ? (changing, deleting) : (deleting, changing)
    let change = try set(from, for: to)
    #expect(!change.lines.contains { $0.hasPrefix("inserted") })
    #expect(change.lines.contains { $0.hasPrefix(tried.isOfChange ? "updated" : "deleted") })
    let isThere = !tried.isOfChange && (tried.policy == .error || tried.policy == .mine)
    if tried.policy == .error {
      #expect(heartwoodError { try to.coordinator.apply(change) }?.code == .persistentStoreSaveConflicts)
    } else {
      let report = try to.coordinator.apply(change, policy: tried.policy)
      #expect(report.conflicts.count == (tried.policy == .newest && !tried.isOfChange ? 0 : 1))
    }
    #expect(try (to.part("two") != nil) == isThere)
    #expect(try to.coordinator.verify().findings.isEmpty)
  }

  @Test func `a set of what a store has forgotten is refused, until it has a lineage of its own`() throws {
    let (first, second) = try pair()
    try first.coordinator.backup(to: url("older"))
    _ = first.make("three")
    try first.context.save()
    try second.coordinator.apply(set(first, for: second), policy: .newest)
    _ = second.make("four")
    try second.context.save()
    let older = try StoreCopy(at: url("older"))
    let lost = try set(second, for: older)
    #expect(heartwoodError { try older.coordinator.apply(lost) }?.code == .persistentHistoryTokenExpired)
    try older.coordinator.beginLineage()
    try older.coordinator.apply(set(second, for: older), policy: .newest)
    #expect(try older.contents() == second.contents())
  }

  @Test(arguments: ChangeSetPolicy.allCases)
  func `changes of the store that come back to it are no conflicts`(
    policy: ChangeSetPolicy
  ) throws {
    let (first, second) = try pair()
    let part = first.make("three")
    try first.context.save()
    try second.coordinator.apply(set(first, for: second), policy: policy)
    part.a = 9
    try first.context.save()
    try #require(try second.part("one")).b = "other"
    try second.context.save()
    let report = try first.coordinator.apply(set(second, for: first), policy: policy)
    #expect(report.conflicts.isEmpty)
    #expect(try first.part("three")?.a == 9 && first.part("one")?.b == "other")
  }

  @Test func `a store whose history was deleted still exchanges change sets`()
    throws
  {
    let (first, second) = try pair()
    let one = try #require(try first.part("one"))
    one.a = 5
    try first.context.save()
    try second.coordinator.apply(set(first, for: second))
    try #require(try second.part("two")).a = 6
    try second.context.save()
    one.a = 7
    try first.context.save()
    for copy in [first, second] {
      _ = try copy.context.execute(PersistentHistoryChangeRequest.deleteHistory(before: .distantFuture))
    }
    for policy in [ChangeSetPolicy.error, .newest] {
      try second.coordinator.apply(set(first, for: second), policy: policy)
      try first.coordinator.apply(set(second, for: first), policy: policy)
    }
    #expect(try first.contents() == second.contents())
    #expect(try first.part("one")?.a == 7 && first.part("two")?.a == 6)
    #expect(try second.coordinator.verify().findings.isEmpty)
    // Nor are later changes left out of its history.
    let untracked = PersistentContainer(
      name: "Parts", managedObjectModel: try ManagedObjectModel(types: [Component.self, Sticker.self]))
    let description = PersistentStoreDescription(url: url("a"))
    description.tracksHistory = false
    untracked.persistentStoreDescriptions = [description]
    let refusal = heartwoodError { try untracked.loadPersistentStores() }
    #expect(refusal?.code == .persistentStoreOpen && refusal?.message.contains("change sets") == true)
  }

  @Test func `changes whose history was deleted before the first exchange are older than others`() throws {
    let (first, second) = try pair()
    try #require(try first.part("one")).a = 5
    try #require(try first.part("two")).b = "only here"
    first.make("three").a = 3
    try first.context.save()
    _ = try first.context.execute(PersistentHistoryChangeRequest.deleteHistory(before: .distantFuture))
    try #require(try second.part("one")).a = 6
    try second.context.save()
    for _ in 0..<2 {
      let (ours, theirs) = (try set(first, for: second), try set(second, for: first))
      try second.coordinator.apply(ours, policy: .newest)
      try first.coordinator.apply(theirs, policy: .newest)
    }
    #expect(try first.contents() == second.contents())
    #expect(
      try first.part("one")?.a == 6 && second.part("two")?.b == "only here" && second.part("three")?.a == 3)
  }

  @Test func `the name under which a store keeps history for change sets is not that of a consumer`() throws {
    let (first, _) = try pair()
    let error = heartwoodError { _ = try first.coordinator.historyConsumer("change sets") }
    #expect(error?.code == .coreData && error?.message.contains("change sets") == true)
  }

  @Test func `a set is made of a generation that is held, after its space was reclaimed`() throws {
    let (first, second) = try pair()
    try second.coordinator.hold("copied")
    _ = second.make("three")
    try second.context.save()
    try second.coordinator.reclaim()
    _ = second.make("four")
    try second.context.save()
    try first.coordinator.apply(set(second, for: first))
    #expect(try first.contents() == second.contents())
  }

  @Test func `a generation that does not exist is named by the error`() throws {
    let (first, _) = try pair()
    let newest = try #require(first.container.currentHistoryToken).transactionNumber
    let error = heartwoodError { _ = try first.coordinator.changeSet(from: UInt64(newest + 7)) }
    #expect(
      error?.code == .persistentStoreOperation && error?.message.contains("newer than the newest") == true)
    let order = heartwoodError { _ = try first.coordinator.changeSet(from: UInt64(newest), to: 1) }
    #expect(order?.message.contains("invert") == true)
  }

  @Test(arguments: ChangeSetPolicy.allCases, [false, true])
  func `a delete conflicts with a reference that its copy has not seen, in both directions`(
    policy: ChangeSetPolicy, isNew: Bool
  ) throws {
    let (first, second) = try pair()
    let piece = isNew ? first.make("new") : try #require(try first.part("one"))
    piece.whole = try first.part("two")
    try first.context.save()
    second.context.delete(try #require(try second.part("two")))
    try second.context.save()
    let (reference, delete) = (try set(first, for: second), try set(second, for: first))
    func apply(_ set: ChangeSet, to copy: StoreCopy) throws {
      guard policy == .error else {
        let report = try copy.coordinator.apply(set, policy: policy)
        #expect(report.conflicts.isEmpty == (policy == .newest))
        return
      }
      #expect(heartwoodError { try copy.coordinator.apply(set) }?.code == .persistentStoreSaveConflicts)
    }
    try apply(delete, to: first)
    #expect(try (first.part("two") == nil) == (policy == .newest || policy == .theirs))
    if !isNew { try apply(reference, to: second) }
    #expect(try second.part("two") == nil)
  }

  @Test func `a set with an object of the store that it has never had is refused`() throws {
    let (first, second) = try pair()
    _ = second.make("three")
    try second.context.save()
    var forged = try set(second, for: first)
    let place = try #require(forged.changes.firstIndex { $0.kind == .inserted })
    let change = forged.changes[place]
    var other = ChangeSet.Change(
      identity: ChangeSet.Identity(
        lineage: forged.needed.keys.first ?? forged.lineage, root: change.identity.root, key: 99),
      entity: change.entity, kind: .inserted, stamp: change.stamp)
    other.cells = change.cells
    forged.changes[place] = other
    #expect(
      heartwoodError { try first.coordinator.apply(forged, policy: .newest) }?.code
        == .persistentHistoryTokenExpired)
    _ = first.make("four")
    try first.context.save()
    #expect(try first.coordinator.verify().findings.isEmpty)
  }

  @Test func `a local set that is rebased on a remote one has what only it has changed`() throws {
    let (first, second) = try pair()
    let start = try #require(second.container.currentHistoryToken).transactionNumber
    try second.part("one")?.a = 20
    try second.part("one")?.b = "mine"
    try second.context.save()
    let local = try second.coordinator.changeSet(from: start)
    try first.part("one")?.a = 10
    try first.context.save()
    let remote = try set(first, for: second)
    // The remote changes come first, and the local ones once more.
    try second.coordinator.apply(local.inverted)
    try second.coordinator.apply(remote)
    try second.coordinator.apply(local.rebased(on: remote))
    let one = try #require(try second.part("one"))
    #expect(one.a == 10 && one.b == "mine")
  }

  @Test func `gaps, copies without a lineage, other models and damage are errors`() throws {
    let (first, second) = try pair()
    try first.part("one")?.a = 5
    try first.context.save()
    let middle = try #require(first.container.currentHistoryToken).transactionNumber
    try first.part("one")?.a = 6
    try first.context.save()
    let late = try first.coordinator.changeSet(from: middle)
    let gap = heartwoodError { try second.coordinator.apply(late) }
    #expect(
      gap?.code == .persistentHistoryTokenExpired && gap?.message.contains("changeSetPositions") == true)
    // A copy that goes its own way under the same lineage.
    try first.coordinator.backup(to: url("c"))
    let third = try StoreCopy(at: url("c"))
    try third.part("one")?.a = 7
    try third.context.save()
    try first.part("one")?.a = 8
    try first.context.save()
    let foreign = try third.coordinator.changeSet(from: middle)
    #expect(heartwoodError { try first.coordinator.apply(foreign) }?.message.contains("beginLineage") == true)
    let bytes = try set(first, for: second).encoded()
    for place in bytes.indices {
      var damaged = bytes
      damaged[place] ^= 1
      #expect(heartwoodError { _ = try ChangeSet(decoding: damaged) }?.code == .persistentStoreOpen)
    }
    for count in 0..<bytes.count {
      #expect(heartwoodError { _ = try ChangeSet(decoding: bytes.prefix(count)) } != nil)
    }
    let other = try makeContainer()
    #expect(
      heartwoodError { try other.persistentStoreCoordinator.apply(late) }?.code
        == .persistentStoreIncompatibleVersionHash)
  }

  /// The removal that one copy makes in an object of another one.
  enum Removal: CaseIterable { case value, link, toOne, object }

  private func remove(_ removal: Removal, from copy: StoreCopy) throws {
    let part = try #require(try copy.part("new"))
    switch removal {
    case .value: part.b = nil
    case .link: part.labels = []
    case .toOne: part.whole = nil
    case .object: copy.context.delete(part)
    }
    try copy.context.save()
  }

  func insertWhole(in copy: StoreCopy) throws {
    let part = copy.make("new")
    part.b = "b"
    part.labels = Set(try copy.context.fetch(FetchRequest<Sticker>()))
    part.whole = try copy.part("one")
    try copy.context.save()
  }

  @Test(arguments: Removal.allCases, ChangeSetPolicy.allCases)
  func `what another copy removes from a new object comes back to the copy that made it`(
    removal: Removal, policy: ChangeSetPolicy
  ) throws {
    let (first, second) = try pair()
    try insertWhole(in: first)
    try second.coordinator.apply(set(first, for: second), policy: policy)
    try remove(removal, from: second)
    let report = try first.coordinator.apply(set(second, for: first), policy: policy)
    #expect(report.conflicts.isEmpty && report.changedObjectIDs.count == 1)
    #expect(try first.contents() == second.contents())
  }

  @Test(arguments: Removal.allCases, ChangeSetPolicy.allCases)
  func `it comes over a third copy that never had the object`(
    removal: Removal, policy: ChangeSetPolicy
  ) throws {
    let (first, second) = try pair()
    let third = try first.copy(to: url("c"))
    try insertWhole(in: first)
    try second.coordinator.apply(set(first, for: second), policy: policy)
    try remove(removal, from: second)
    try third.coordinator.apply(set(second, for: third), policy: policy)
    let report = try first.coordinator.apply(set(third, for: first), policy: policy)
    #expect(report.conflicts.isEmpty && report.changedObjectIDs.count == 1)
    #expect(try first.contents() == second.contents())
    #expect(try first.contents() == third.contents())
    // An older change comes too late.
    let late = try first.coordinator.changeSet(from: 1)
    _ = try? third.coordinator.apply(late, policy: policy == .theirs ? .newest : policy)
    #expect(try first.contents() == third.contents())
  }

  /// Three copies change at random and exchange change sets in any order; some are lost, and some come twice.
  @Test(arguments: 1...10) func `three copies that have exchanged everything are equal`(seed: UInt64) throws {
    let first = try StoreCopy(at: url("first"))
    for number in 0..<5 { _ = first.make("code \(number)") }
    try first.context.save()
    let replicas = [first, try first.copy(to: url("second")), try first.copy(to: url("third"))]
    var random = SplitMix64(seed: seed)
    var sent: [(to: Int, set: ChangeSet)] = []
    func apply(_ set: ChangeSet, to place: Int) throws {
      do {
        try replicas[place].coordinator.apply(set, policy: .newest)
      } catch let error as HeartwoodError where error.code == .persistentHistoryTokenExpired {
        // The changes between were lost.
      }
    }
    for _ in 0..<(LongRun.isWanted ? 600 : 60) {
      let (from, to) = (random.below(3), random.below(3))
      switch random.below(4) {
      case 0, 1: try change(replicas[from], &random)
      case 2 where from != to: sent.append((to, try set(replicas[from], for: replicas[to])))
      default:
        guard !sent.isEmpty else { continue }
        let place = random.below(sent.count)
        let message = sent[place]
        // One in four comes once more, or later.
        if random.below(4) > 0 { sent.remove(at: place) }
        if random.below(5) > 0 { try apply(message.set, to: message.to) }
      }
    }
    var round = 0
    var states = try replicas.map { try $0.contents() }
    while Set(states).count > 1 || round < 2, round < 8 {
      for from in 0..<3 {
        for to in 0..<3 where from != to { try apply(set(replicas[from], for: replicas[to]), to: to) }
      }
      states = try replicas.map { try $0.contents() }
      round += 1
    }
    let all = Set(states.joined())
    let differing = all.filter { line in !states.allSatisfy { $0.contains(line) } }
    #expect(differing.isEmpty, "seed \(seed): \(differing.sorted())")
    for replica in replicas { #expect(try replica.coordinator.verify().findings.isEmpty) }
  }
}
