import Foundation

/// A value of an attribute or of a to-one relationship as stores keep it, whatever Swift type a class declares for it: for an
/// ``IncrementalStore`` that has columns.
public enum StoredValue: Sendable, Hashable {
  /// No value.
  case null
  /// An integer of any width.
  case integer(Int64)
  /// A floating-point number of any width.
  case double(Double)
  /// A decimal number.
  case decimal(Decimal)
  /// A Boolean.
  case boolean(Bool)
  /// A text, or the text of a URL.
  case string(String)
  /// Seconds since the beginning of 2001 in UTC, Foundation's reference date.
  case date(Double)
  /// Bytes; of a transformable attribute those that its transformer makes.
  case data(Data)
  /// A UUID.
  case uuid(UUID)
  /// The destination of a to-one relationship.
  case object(ManagedObjectID)

  init(_ value: Value) {
    switch value {
    case .null, .list, .opaque: self = .null
    case .int(let number): self = .integer(number)
    case .double(let number): self = .double(number)
    case .decimal(let number): self = .decimal(number)
    case .bool(let value): self = .boolean(value)
    case .string(let text), .url(let text): self = .string(text)
    case .date(let seconds): self = .date(seconds)
    case .data(let data): self = .data(data)
    case .uuid(let uuid): self = .uuid(uuid)
    case .object(let id): self = .object(id)
    }
  }

  /// The value as a column of this kind has it; nil if it cannot have it.
  @inline(__always)
  func value(_ kind: ColumnKind) -> Value? {
    switch (self, kind) {
    case (.null, _): .null
    case (.integer(let number), .int64): .int(number)
    case (.integer(let number), .int32): Int32(exactly: number).map { .int(Int64($0)) }
    case (.integer(let number), .int16): Int16(exactly: number).map { .int(Int64($0)) }
    case (.double(let number), .double), (.double(let number), .float): .double(number)
    case (.boolean(let value), .bool): .bool(value)
    case (.string(let text), .string): .string(text)
    case (.string(let text), .uri): .url(text)
    case (.date(let seconds), .date): .date(seconds)
    case (.data(let data), .data): .data(data)
    case (.decimal(let number), .decimal): .decimal(number)
    case (.uuid(let uuid), .uuid): .uuid(uuid)
    case (.object(let id), .toOne): .object(id.inItsStore)
    default: nil
    }
  }
}

extension EntityDescription {
  /// The properties that a store keeps of each object of the entity: attributes, elements of composite ones each, and to-one
  /// relationships, without transient ones. Their order stays the same while the model is frozen; those of a superentity come first.
  @_disfavoredOverload
  public var storedProperties: [PropertyDescription] { storedSlots.map(property(at:)) }

  /// The slots of `storedProperties`, ascending.
  var storedSlots: [Int] {
    layout.columns.filter { ![.transient, .toMany, .composite].contains($0.kind) }.map { Int($0.slot) }
  }
}
