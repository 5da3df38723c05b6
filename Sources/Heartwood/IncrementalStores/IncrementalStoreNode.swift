import Foundation

/// The values of an object of an ``IncrementalStore``, as its class has read them.
public final class IncrementalStoreNode: NSObject, @unchecked Sendable {
  /// The identifier of the object, with its own entity.
  public let objectID: ManagedObjectID
  /// Grows with each change of the object in the store: saves find conflicts by it. New objects have 1.
  public private(set) var version: UInt64
  private var values: [String: Any]
  /// Those of `EntityDescription.storedProperties`; nil if the node has values by name.
  private var stored: [StoredValue]?

  /// A node.
  ///
  /// - Parameters:
  ///   - objectID: The identifier of the object, with its own entity.
  ///   - values: By the names of properties: values of attributes in the types of `ManagedObject.value(forKey:)`, and of to-one relationships
  ///     identifiers, or `NSNull` for none. A to-one relationship that is left out is asked for when the object is used. The elements of a
  ///     composite attribute have the names of their paths, such as `address.city`.
  ///   - version: The version of the object.
  public init(objectID: ManagedObjectID, withValues values: [String: Any], version: UInt64) {
    self.objectID = objectID
    self.values = values
    self.version = version
  }

  /// A node of a store that has columns.
  ///
  /// - Parameters:
  ///   - objectID: The identifier of the object, with its own entity.
  ///   - values: The values of `EntityDescription.storedProperties` of the entity, in their order.
  ///   - version: The version of the object.
  /// - Precondition: There are as many values as properties.
  public init(objectID: ManagedObjectID, storedValues values: [StoredValue], version: UInt64) {
    self.objectID = objectID
    self.values = [:]
    stored = values
    self.version = version
  }

  /// Replaces values and version.
  public func update(withValues values: [String: Any], version: UInt64) {
    self.values = values
    stored = nil
    self.version = version
  }

  /// The value of a property; nil if the node has none.
  public func value(for property: PropertyDescription) -> Any? {
    guard let stored else { return values[property.name] }
    let entity = objectID.entity
    guard let place = entity.storedSlots.firstIndex(of: property.slot) else { return nil }
    if case .object(let id) = stored[place] { return id }
    return stored[place].value(entity.layout.columns[property.slot].kind).flatMap {
      entity.anyValue($0, at: property.slot)
    }
  }

  /// The key of the destination of the stored property with this place; nil if there is none, or if the node has values by name.
  func destinationKey(at place: Int) -> UInt64? {
    guard let stored, place < stored.count, case .object(let id) = stored[place] else { return nil }
    return id.keyInItsStore
  }

  func removeDestination(at place: Int) { stored?[place] = .null }

  /// The node as a row.
  ///
  /// - Parameter destination: Asks for a to-one relationship that the node does not have; the key of its destination.
  func row(_ destination: (RelationshipDescription) throws -> ManagedObjectID?) throws -> [UInt8] {
    let entity = objectID.entity
    if let stored { return try row(of: stored, entity) }
    var builder = RowBuilder(entity.layout)
    for column in entity.layout.columns {
      let slot = Int(column.slot)
      let property = entity.property(at: slot)
      switch column.kind {
      case .transient, .toMany: continue
      case .composite:
        let prefix = property.name + "."
        if values.contains(where: { $0.key.hasPrefix(prefix) && !($0.value is NSNull) }) {
          builder.set(slot, .bool(true))
        }
      case .toOne:
        let relationship = entity.relationship(at: slot)
        let id =
          try Self.destination(values[property.name], relationship, objectID) ?? destination(relationship)
        if let id { builder.set(slot, .object(id.inItsStore)) }
      default:
        guard let value = values[property.name], !(value is NSNull) else { continue }
        do {
          builder.set(slot, try entity.storedValue(value, at: slot))
        } catch {
          throw HeartwoodError(
            .persistentStoreDamaged,
            "the node of \(objectID) has a value that \(property.displayName) cannot have: \(error.message)",
            objectIDs: [objectID], property: property.name, underlying: error)
        }
      }
    }
    return builder.finish(version: UInt32(truncatingIfNeeded: version))
  }

  private func row(of stored: [StoredValue], _ entity: EntityDescription) throws -> [UInt8] {
    do {
      return try entity.row(version: version) { $0 < stored.count ? stored[$0] : nil }
    } catch let unfit as UnfitValue {
      throw unfit.error(of: objectID)
    }
  }

  /// - Returns: nil if the node does not have the relationship; some nil for no destination.
  private static func destination(
    _ value: Any?, _ relationship: RelationshipDescription, _ objectID: ManagedObjectID
  ) throws -> ManagedObjectID?? {
    switch value {
    case nil: return nil
    case is NSNull: return .some(nil)
    case let id as ManagedObjectID: return .some(id)
    default:
      throw HeartwoodError(
        .persistentStoreDamaged,
        "the node of \(objectID) has no identifier for \(relationship.displayName), but \(String(describing: value))",
        objectIDs: [objectID], property: relationship.name)
    }
  }
}
