import Foundation
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

@testable import Heartwood

/// Objects with relationships of every kind, of which several copies change the same.
final class Knot: ManagedObject {
  @Attribute(.unique) var code: String?
  @Attribute var size: Int64 = 0
  @Attribute var note: String?
  @Relationship(inverse: { $0.knots }) var marks: Set<Mark>
  @Relationship(inverse: { $0.lines }) var line: [Mark]
  @Relationship(inverse: { $0.rivals }) var fans: Set<Knot>
  @Relationship(inverse: { $0.fans }) var rivals: Set<Knot>
  @Relationship(inverse: { $0.friends }) var friends: Set<Knot>
  @Relationship var main: Mark?
  @Relationship var extras: Set<Mark>
  @Relationship var picks: [Mark]
  @Relationship(inverse: { $0.parent }, deleteRule: .cascade) var children: [Knot]
  @Relationship(inverse: { $0.children }) var parent: Knot?
  @Relationship(inverse: { $0.previous }) var next: Knot?
  @Relationship(inverse: { $0.next }) var previous: Knot?
  @Relationship(inverse: { $0.guardian }, deleteRule: .noAction) var wards: Set<Knot>
  @Relationship(inverse: { $0.wards }) var guardian: Knot?
}

final class Mark: ManagedObject {
  @Attribute(.unique) var name: String?
  @Relationship(inverse: { $0.marks }) var knots: Set<Knot>
  @Relationship(inverse: { $0.line }) var lines: Set<Knot>
}

/// A clock that shows what it is set to.
final class ReplicaClock: WallClock {
  let time = Guarded<Int64>(0)
  var nanosecondsSince1970: Int64 { time.withLock { $0 } }
}

private final class FixedEntropy: Entropy {
  private let random: Guarded<SplitMix64>
  init(_ seed: UInt64) { random = Guarded(SplitMix64(seed: seed)) }
  func next() -> UInt64 { random.withLock { $0.next() } }
}

/// A copy of a store of knots, in memory, whose clock and lineage are given.
final class KnotCopy {
  let container: PersistentContainer
  let context: ManagedObjectContext
  let clock: ReplicaClock
  let fileSystem: MemoryFileSystem
  var coordinator: PersistentStoreCoordinator { container.persistentStoreCoordinator }
  /// The transactions that an undo may take back.
  var transactions: [UInt64] = []
  /// Those that only delete.
  private var deletes: [UInt64] = []

  init(_ name: String, in fileSystem: MemoryFileSystem, clock: ReplicaClock, seed: UInt64) throws {
    self.clock = clock
    self.fileSystem = fileSystem
    container = PersistentContainer(
      name: "Knots", managedObjectModel: try ManagedObjectModel(types: [Knot.self, Mark.self]))
    let description = PersistentStoreDescription(url: URL(fileURLWithPath: "/\(name)"))
    description.fileSystem = fileSystem
    description.engineOptions = EngineOptions(
      reading: .buffered, durability: .none, reclamation: .onDemand, worker: InlineWorker(), clock: clock,
      entropy: FixedEntropy(seed))
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    context = container.newBackgroundContext()
  }

  /// A copy with this lineage.
  func copy(_ name: String, _ lineage: UUID, seed: UInt64) throws -> KnotCopy {
    try coordinator.backup(to: URL(fileURLWithPath: "/\(name)"), fileSystem: fileSystem)
    let copy = try KnotCopy(name, in: fileSystem, clock: ReplicaClock(), seed: seed)
    copy.clock.time.withLock { $0 = clock.nanosecondsSince1970 }
    try copy.coordinator.historyStore(nil).writeWithoutHistory("a lineage could not be begun") {
      try $0.beginLineage(lineage)
    }
    return copy
  }

  /// The changes that another copy does not have.
  func set(for other: KnotCopy) throws -> ChangeSet {
    try coordinator.changeSet(after: other.coordinator.changeSetPositions())
  }

  /// Saves, and returns whether the store had nothing against it.
  @discardableResult
  func save(_ context: ManagedObjectContext) throws -> Bool {
    let former = container.currentHistoryToken?.transactionNumber
    do { try context.save() } catch let error as HeartwoodError where error.code != .persistentStoreDamaged {
      context.rollback()
      return false
    }
    if let number = container.currentHistoryToken?.transactionNumber, number != former {
      transactions.append(number)
    }
    return true
  }

  /// Takes one of the last transactions back, or a delete.
  func undo(_ random: inout SplitMix64, ofDelete: Bool = false) throws {
    let all = ofDelete ? deletes : transactions
    guard !all.isEmpty else { return }
    let number = all[all.count - 1 - random.below(min(3, all.count))]
    let context = container.newBackgroundContext()
    do { _ = try context.revert(transaction: number) } catch is HeartwoodError { return context.rollback() }
    try save(context)
  }

  /// Deletes the history, once the store knows that there are other copies.
  func forget() throws {
    guard try coordinator.historyStore(nil).newestView().replica().stamped > 0 else { return }
    _ = try context.execute(PersistentHistoryChangeRequest.deleteHistory(before: .distantFuture))
  }

  /// Applies a set; a gap, as sets before it were lost, is no error.
  @discardableResult
  func apply(_ set: ChangeSet) throws -> ChangeSetReport? {
    let former = container.currentHistoryToken?.transactionNumber
    do {
      let report = try coordinator.apply(set, policy: .newest)
      if let number = container.currentHistoryToken?.transactionNumber, number != former {
        transactions.append(number)
      }
      return report
    } catch let error as HeartwoodError where error.code == .persistentHistoryTokenExpired {
      return nil
    }
  }

  /// Fills a store with a knot and a mark that are linked.
  func fill() throws {
    let (knot, mark) = (Knot(context: context), Mark(context: context))
    (knot.marks, knot.line, knot.extras, knot.picks) = ([mark], [mark], [mark], [mark])
    (knot.rivals, knot.friends, knot.main, knot.next) = ([knot], [knot], mark, knot)
    try save(context)
  }

  /// Deletes one of the two objects, or changes one link.
  ///
  /// - Parameter link: The number of the relationship.
  func touch(_ link: Int, _ random: inout SplitMix64) throws {
    context.reset()
    let (knot, mark) = (try context.fetch(Knot.self).first, try context.fetch(Mark.self).first)
    switch (random.below(4), knot, mark) {
    case (0, let knot?, _): context.delete(knot)
    case (1, _, let mark?): context.delete(mark)
    case (2..., let knot?, let mark?):
      switch link {
      case 0: if knot.marks.remove(mark) == nil { knot.marks.insert(mark) }
      case 1: knot.line = knot.line.isEmpty ? [mark] : []
      case 2: if knot.extras.remove(mark) == nil { knot.extras.insert(mark) }
      case 3: knot.picks = knot.picks.isEmpty ? [mark] : []
      case 4: if knot.rivals.remove(knot) == nil { knot.rivals.insert(knot) }
      case 5: if knot.friends.remove(knot) == nil { knot.friends.insert(knot) }
      case 6: knot.main = knot.main == nil ? mark : nil
      case 7: knot.next = knot.next == nil ? knot : nil
      default: knot.note = ["a", "b", nil][random.below(3)]
      }
    default: return
    }
    let deletes = !context.deletedObjects.isEmpty
    if try save(context), deletes, let last = transactions.last { self.deletes.append(last) }
  }

  /// Changes a few objects at random.
  func change(_ random: inout SplitMix64, most: Int) throws {
    context.reset()
    let names = try Registers(self)
    let knots = try context.fetch(Knot.self).sorted { try names.name($0) < names.name($1) }
    let marks = try context.fetch(Mark.self).sorted { try names.name($0) < names.name($1) }
    for _ in 0...random.below(3) {
      let knot = knots.isEmpty ? nil : knots[random.below(knots.count)]
      let other = knots.isEmpty ? nil : knots[random.below(knots.count)]
      let mark = marks.isEmpty ? nil : marks[random.below(marks.count)]
      let (kind, number) = (random.below(23), Int64(random.below(50)))
      let text = random.below(3) == 0 ? nil : "\(random.below(4))"
      switch kind {
      case 0, 1:
        if knots.count < most || random.below(4) == 0 {
          let made = Knot(context: context)
          (made.code, made.size, made.parent) = (text, number, knot?.isDeleted == false ? knot : nil)
          if let mark, !mark.isDeleted { (made.marks, made.line, made.extras) = ([mark], [mark], [mark]) }
        }
      case 2, 3:
        if marks.count < most || random.below(4) == 0 {
          let made = Mark(context: context)
          made.name = text
          if let knot, !knot.isDeleted { made.knots = [knot] }
        }
      case 4: if let knot, !knot.isDeleted { context.delete(knot) }
      case 5, 6: if let mark, !mark.isDeleted, kind == 5 || random.below(2) == 0 { context.delete(mark) }
      default:
        guard let knot, let other, !knot.isDeleted, !other.isDeleted else { continue }
        let mark = mark?.isDeleted == false ? mark : nil
        switch kind {
        case 7: knot.code = text
        case 8: knot.size = number
        case 9: knot.note = text
        case 10: mark?.name = text
        case 11: knot.main = mark
        case 12: knot.parent = knot === other ? nil : other
        case 13: knot.next = number % 4 == 0 ? nil : other
        case 14: knot.guardian = number % 4 == 0 ? nil : other
        case 15: if knot.rivals.remove(other) == nil { knot.rivals.insert(other) }
        case 16: if knot.friends.remove(other) == nil { knot.friends.insert(other) }
        default:
          guard let mark else { continue }
          switch kind {
          case 17: if knot.marks.remove(mark) == nil { knot.marks.insert(mark) }
          case 20:
            if let place = knot.picks.firstIndex(of: mark) {
              knot.picks.remove(at: place)
            } else {
              knot.picks.append(mark)
            }
          case 21: knot.picks.reverse()
          case 22: (knot.line, knot.children) = (knot.line.reversed(), knot.children.reversed())
          case 18: if knot.extras.remove(mark) == nil { knot.extras.insert(mark) }
          default:
            if let place = knot.line.firstIndex(of: mark) {
              knot.line.remove(at: place)
            } else {
              knot.line.insert(mark, at: 0)
            }
          }
        }
      }
    }
    try save(context)
  }
}

/// The objects, values and links of a store, with the stamps that decide.
struct Registers {
  private let view: LogStoreView
  private let replica: ReplicaRecord
  private let new: [StampKey: StoredStamp]
  private let schema: StoreSchema

  init(_ copy: KnotCopy) throws {
    view = try copy.coordinator.historyStore(nil).newestView()
    replica = try view.replica()
    new = try view.newStamps(replica)
    schema = view.schema
  }

  func name(_ object: ManagedObject) throws -> String {
    try name(RowAddress(object.entity, object.objectID.key))
  }

  private func name(_ address: RowAddress) throws -> String {
    let origin = try view.origin(of: address, replica)
    let key = String("000\(origin.key)".suffix(4))
    return "\(address.root)-\(origin.lineage.uuidString.prefix(4))-\(key)"
  }

  private func reference(_ address: RowAddress) throws -> String {
    try (view.entity(of: address) == nil ? "†" : "") + name(address)
  }

  private func stored(_ key: StampKey) throws -> StoredStamp? {
    try new[key] ?? view.storedStamp(key, replica)
  }

  private func stamp(_ key: StampKey, _ objects: [RowAddress]) throws -> String {
    let all = try ([key] + objects.map { StampKey(address: $0) }).compactMap { key in
      try stored(key).flatMap { key.property == nil && $0.isDeleted ? nil : $0.stamp }
    }
    return all.max().map { "@\($0.nanoseconds).\($0.lineage.uuidString.prefix(4)).\($0.number)" } ?? "@-"
  }

  /// One line for each value and link, by its name: what it is, and when it was changed.
  func lines() throws -> [String: (value: String, stamp: String)] {
    var lines: [String: (value: String, stamp: String)] = [:]
    for root in schema.rootEntities {
      var rows: [(RowAddress, EntityDescription, [(String, UInt16, String)])] = []
      try view.scanRows(of: root, from: nil, reversed: false) { found in
        let entity = try root.entity(numbered: found.row.entityNumber)
        let address = RowAddress(root, found.key)
        var cells: [(String, UInt16, String)] = []
        for slot in entity.slots where entity.isPortable(slot) {
          let (column, path) = (entity.layout.columns[slot], entity.property(at: slot).path)
          let value: String
          if found.row.isNull(column) {
            value = "nil"
          } else if let relationship = entity.compiled.relationshipBySlot[slot] {
            value = try reference(
              RowAddress(relationship.destinationEntity.rootEntity, found.row.key(column)))
          } else {
            value = "\(try view.wholeValue(of: found.row, slot, found.key, entity))"
          }
          cells.append((path, schema.entity(entity).propertyNumbers[slot], value))
        }
        rows.append((address, entity, cells))
        return true
      }
      for (address, entity, cells) in rows {
        let own = try name(address)
        lines[own] = ("there", try stamp(StampKey(address: address), []))
        for (path, number, value) in cells {
          lines["\(own).\(path)"] = (
            value, try stamp(StampKey(address: address, property: number), [address])
          )
        }
        for relationship in entity.relationshipsBySlot where relationship.isOrdered {
          let keys = try view.destinationKeys(relationship, of: address.key)
          let key = StampKey(address: address, property: schema.number(of: relationship))
          lines["\(own).\(relationship.name)"] = (
            try keys.map { try reference(RowAddress(relationship.destinationEntity.rootEntity, $0)) }.joined(
              separator: " "), try stamp(key, [address])
          )
        }
        for relationship in entity.relationshipsBySlot where relationship.hasPortableLinks {
          let number = schema.number(of: relationship)
          for target in try view.destinationKeys(relationship, of: address.key) {
            let other = RowAddress(relationship.destinationEntity.rootEntity, target)
            let ends = [address] + (relationship.inverseRelationship == nil ? [] : [other])
            lines["\(own).\(relationship.name).\(try reference(other))"] = (
              "linked", try stamp(StampKey(address: address, property: number, target: target), ends)
            )
          }
        }
      }
    }
    return lines
  }
}
