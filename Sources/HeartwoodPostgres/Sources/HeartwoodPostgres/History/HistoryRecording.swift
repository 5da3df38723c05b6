import Foundation
import Heartwood

/// The changes of a transaction, for the history that is written at its end.
///
/// It is collected where rows are written: by saves, batches and derived attributes alike. Objects with the same kind of change and the same
/// properties are one row of the history, with an array of numbers, so that a save of many objects costs little more than one of few.
final class HistoryRecording: @unchecked Sendable {
  /// The recording of the transaction that the current call executes; nil if none is recorded.
  @TaskLocal static var current: HistoryRecording?

  struct Group {
    let kind: PersistentHistoryChange.ChangeType
    let entity: EntityDescription
    let properties: [String]
    var objects: [Int64] = []
    /// The values that are kept of deleted objects, in the order of `objects`; empty if the entity keeps none.
    var tombstones: [[String: StoredValue]] = []
  }

  private enum Change {
    case insert
    case update(Set<String>)
    case delete([String: StoredValue])
  }

  private struct Key: Hashable {
    let kind: Int
    let entity: String
    let properties: [String]
  }

  private var changes: [ManagedObjectID: Change] = [:]
  private var order: [ManagedObjectID] = []

  func noteInsertion(_ objects: some Sequence<ManagedObjectID>) {
    for object in objects { set(.insert, object) }
  }

  func noteUpdate(_ objects: some Sequence<ManagedObjectID>, _ properties: some Sequence<PropertyDescription>)
  {
    let names = Set(properties.map(\.name))
    for object in objects { noteUpdate(object, names) }
  }

  func noteUpdate(_ object: ManagedObjectID, _ names: Set<String>) {
    switch changes[object] {
    case nil: set(.update(names), object)
    // The history of a new object is that it is new; that of a deleted one does not change.
    case .insert, .delete: return
    case .update(let known): changes[object] = .update(known.union(names))
    }
  }

  /// - Parameter values: The values that are kept of the object.
  func noteDeletion(_ object: ManagedObjectID, keeping values: [String: StoredValue]) {
    if case .insert = changes[object] {
      changes[object] = nil
      return
    }
    set(.delete(values), object)
  }

  /// Notes that objects were gone already.
  func forgetDeletion(_ objects: [ManagedObjectID]) { for object in objects { changes[object] = nil } }

  private func set(_ change: Change, _ object: ManagedObjectID) {
    // One that was forgotten, and comes again, is in the order twice: the first place counts.
    if changes.updateValue(change, forKey: object) == nil { order.append(object) }
  }

  var isEmpty: Bool { changes.isEmpty }

  /// The changes by kind, entity and properties, in the order in which the first of each came.
  func groups(_ number: (ManagedObjectID) -> Int64) -> [Group] {
    var (groups, places) = ([Group](), [Key: Int]())
    var left = changes
    for object in order {
      guard let change = left.removeValue(forKey: object) else { continue }
      var (kind, properties) = (PersistentHistoryChange.ChangeType.insert, [String]())
      var tombstone: [String: StoredValue]?
      switch change {
      case .insert: break
      case .update(let names): (kind, properties) = (.update, names.sorted())
      case .delete(let values): (kind, tombstone) = (.delete, values)
      }
      let key = Key(kind: kind.rawValue, entity: object.entity.name ?? "", properties: properties)
      let place = places[key] ?? groups.count
      if place == groups.count {
        places[key] = place
        groups.append(Group(kind: kind, entity: object.entity, properties: properties))
      }
      groups[place].objects.append(number(object))
      if let tombstone { groups[place].tombstones.append(tombstone) }
    }
    for place in groups.indices where groups[place].tombstones.allSatisfy(\.isEmpty) {
      groups[place].tombstones = []
    }
    return groups
  }
}

extension EntityDescription {
  /// The attributes whose values the history keeps of deleted objects.
  var attributesKeptOnDeletion: [AttributeDescription] {
    storedProperties.compactMap { $0 as? AttributeDescription }.filter(\.preservesValueInHistoryOnDeletion)
  }
}
