import Foundation

/// The differences between two generations of a store, as a value that another copy of the store applies.
///
/// It names objects by the copy in which they were inserted (their *lineage*), and has the former and the new value of each change, and when and
/// where it was made. `encoded()` is a file that is the same on every platform: <doc:ChangeSets>.
public struct ChangeSet: Sendable, Hashable {
  /// The lineage of the store that it was made of.
  public let lineage: UUID
  /// The generations that it is between; nil for one that was inverted, or rebased: its changes are made by the store that applies it.
  public internal(set) var generations: ClosedRange<UInt64>?
  /// The position in each lineage that a store must have before it can apply the set.
  let needed: [UUID: UInt64]
  /// The position in each lineage that a store has after it.
  let known: [UUID: UInt64]
  /// The time in the history of the last transaction, by which a copy notices that it is another one than its own of this number.
  let endTime: Int64?
  /// The checksum of the model.
  let modelChecksum: String
  var changes: [Change]

  /// The number of objects that it changes.
  public var count: Int { changes.count }
  /// Whether it changes nothing.
  public var isEmpty: Bool { changes.isEmpty }

  /// One line for each object, for people: what became of it, and of which of its properties.
  public var lines: [String] {
    changes.map { change in
      let names = Set(change.cells.keys).union(change.links.keys).union(change.orders.keys)
      let properties = names.sorted().joined(separator: ", ")
      let entity = change.isTombstone ? change.identity.root : change.entity
      return "\(change.kind.rawValue) \(entity)/\(change.identity.key) of \(change.identity.lineage)"
        + (properties.isEmpty || change.kind != .updated ? "" : ": \(properties)")
    }
  }

  /// An object, over all copies of a store.
  struct Identity: Hashable, Sendable {
    let lineage: UUID
    /// The name of the root entity.
    let root: String
    let key: UInt64
  }

  /// A value of a row.
  enum Cell: Hashable, Sendable {
    case value(Value)
    case object(Identity)

    /// Whether a row has the same for both: texts differ also where they are equal as texts.
    func isStored(as other: Cell) -> Bool {
      guard case .value(let value) = self, case .value(let other) = other else { return self == other }
      return value.isStored(as: other)
    }
  }

  struct CellChange: Hashable, Sendable {
    var former: Cell
    var value: Cell
    /// Nil in an inverted set, whose changes are made when it is applied.
    var stamp: ChangeStamp?

    /// Whether it only names what was changed and changed back.
    var isUnchanged: Bool { former.isStored(as: value) }
  }

  struct LinkChange: Hashable, Sendable {
    let destination: Identity
    var isAdded: Bool
    /// Whether both generations have it so: it was changed and changed back, and another copy may know the state between.
    var isUnchanged = false
    var stamp: ChangeStamp?
  }

  struct OrderChange: Hashable, Sendable {
    var former: [Identity]
    var value: [Identity]
    var stamp: ChangeStamp?

    var isUnchanged: Bool { former == value }
  }

  /// The change of one object.
  struct Change: Hashable, Sendable {
    let identity: Identity
    /// The name of its own entity; empty for a tombstone.
    let entity: String
    var kind: ObjectDifference.Kind
    /// Whether the earlier generation has an inserted object, too: it was deleted between them, and came back.
    var isReturn = false
    /// When the object was inserted or deleted; of an updated one nil.
    var stamp: ChangeStamp?
    /// By the paths of attributes, elements and to-one relationships.
    var cells: [String: CellChange] = [:]
    /// By the names of to-many relationships that have links of their own.
    var links: [String: [LinkChange]] = [:]
    /// By the names of ordered relationships.
    var orders: [String: OrderChange] = [:]

    /// The delete of an object that neither generation has, and that another copy may have.
    static func tombstone(_ identity: Identity, _ stamp: ChangeStamp?) -> Change {
      Change(identity: identity, entity: "", kind: .deleted, stamp: stamp)
    }

    var isTombstone: Bool { kind == .deleted && entity.isEmpty }
    var isOfPresent: Bool { kind == .updated || isReturn }
    var isVoid: Bool { kind == .updated && cells.isEmpty && links.isEmpty && orders.isEmpty }
  }
}

/// A policy that decides where a change set and the store have changed the same.
public enum ChangeSetPolicy: String, Sendable, CaseIterable {
  /// Nothing is applied: the error lists what is in conflict.
  case error
  /// The later change stays, by the times of the saves; of two at one time that of the greater lineage. Deletes stay unless the object was
  /// inserted again later. Copies that have exchanged all of their change sets so are equal, in whatever order they have done it.
  case newest
  /// The store's values stay.
  case mine
  /// Those of the change set are taken.
  case theirs
}

/// A place at which a change set and the store differ in another way than the set expects.
public struct ChangeSetConflict: Sendable, Hashable {
  /// The object in the store; nil if it is not there.
  public let objectID: ManagedObjectID?
  /// The property; nil for the whole object, which the one has changed and the other deleted, or which both have inserted.
  public let property: String?
}

/// A report on the application of a change set.
public struct ChangeSetReport: Sendable {
  /// The objects that were inserted, updated or deleted by it.
  public internal(set) var changedObjectIDs: Set<ManagedObjectID> = []
  /// Where the policy has decided.
  public internal(set) var conflicts: [ChangeSetConflict] = []
  /// The objects that were deleted because another has the same unique values.
  public internal(set) var unitedObjectIDs: [ManagedObjectID] = []
  /// Whether all of it was in the store already.
  public internal(set) var wasKnown = false
}
