/// A row of a scan of an ``IncrementalStore``, whose values are read when they are needed: see `IncrementalStore.enumerateRows(of:from:with:_:)`.
///
/// It is used until the body that has got it returns. A store may use one object for row after row.
public protocol IncrementalStoreRow: AnyObject {
  /// The object's own entity.
  var entity: EntityDescription { get }
  /// The number of the object.
  var number: UInt64 { get }
  /// The identifier of the object, if its reference is no number; nil by default.
  var objectID: ManagedObjectID? { get }
  /// The version of the object: see ``IncrementalStoreNode/version``.
  var version: UInt64 { get }
  /// The value of a property.
  ///
  /// - Parameter place: Its place in `EntityDescription.storedProperties` of the entity.
  /// - Throws: Why it cannot be read.
  func value(at place: Int) throws -> StoredValue
}

extension IncrementalStoreRow {
  /// Nil: the object has a number.
  public var objectID: ManagedObjectID? { nil }
}

extension EntityDescription {
  /// A row of values that a store has in columns.
  ///
  /// - Parameter value: Gets the place of a property in `storedProperties`; nil if there is no value.
  /// - Throws: ``UnfitValue`` for a value that its property cannot have; what `value` throws.
  @inline(__always)
  func row(version: UInt64, _ value: (Int) throws -> StoredValue?) throws -> [UInt8] {
    let layout = layout
    var writer = RowWriter(layout, version: UInt32(truncatingIfNeeded: version))
    var place = 0
    for column in layout.columns {
      switch column.kind {
      case .transient, .toMany: writer.write(.null, column)
      case .composite:
        let isThere = try (0..<elementCount(of: column)).contains {
          try value(place + $0).map { $0 != .null } ?? false
        }
        writer.write(isThere ? .bool(true) : .null, column)
      default:
        let stored = try value(place)
        guard let value = stored?.value(column.kind) else { throw UnfitValue(stored, column, self) }
        writer.write(value, column)
        place += 1
      }
    }
    return writer.row
  }

  /// How many stored elements, which follow it, a composite attribute has.
  func elementCount(of column: Column) -> Int {
    let prefix = property(at: Int(column.slot)).name + "."
    return layout.columns[(Int(column.slot) + 1)...].prefix {
      property(at: Int($0.slot)).name.hasPrefix(prefix)
    }.count { $0.kind != .composite }
  }
}

/// A value of a store that its property cannot have.
struct UnfitValue: Error {
  private let property: String
  private let value: String

  init(_ value: StoredValue?, _ column: Column, _ entity: EntityDescription) {
    property = entity.property(at: Int(column.slot)).displayName
    self.value = value.map { "\($0)" } ?? "none"
  }

  func error(of id: ManagedObjectID) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreDamaged, "the node of \(id) has a value that \(property) cannot have: \(value)",
      objectIDs: [id])
  }
}
