import Foundation
import Heartwood

/// The values of an object of any store, for copies and for comparing them.
struct CopiedObject {
  let number: Int64
  let entity: EntityDescription
  /// Of `EntityDescription.storedProperties`; to-one relationships have the number of their destination.
  let values: [StoredValue]

  /// - Throws: `.persistentStoreOperation` if the object has no number in its store.
  init(_ object: ManagedObject) throws {
    entity = object.entity
    number = try Self.number(of: object)
    values = try object.entity.storedProperties.map { property in
      if property is RelationshipDescription {
        guard let destination = object.value(forKey: property.name) as? ManagedObject else { return .null }
        return .integer(try Self.number(of: destination))
      }
      guard let attribute = property as? AttributeDescription else { return .null }
      return Self.stored(Self.value(object, attribute.name), attribute.type)
    }
  }

  /// The destinations of a to-many relationship, in their order if it has one.
  static func destinations(_ relationship: RelationshipDescription, of object: ManagedObject) throws
    -> [Int64]
  {
    let value = object.value(forKey: relationship.name)
    let objects: [ManagedObject] =
      switch value {
      case let list as [ManagedObject]: list
      case let set as Set<ManagedObject>: Array(set)
      case let set as NSOrderedSet: set.array.compactMap { $0 as? ManagedObject }
      case let set as NSSet: set.allObjects.compactMap { $0 as? ManagedObject }
      default: []
      }
    let numbers = try objects.map(number)
    return relationship.isOrdered ? numbers : numbers.sorted()
  }

  static func number(of object: ManagedObject) throws -> Int64 {
    let id = object.objectID
    // The last part of an identifier's URI is a letter and the number.
    if let number = Int64(id.uriRepresentation().lastPathComponent.dropFirst()), number > 0, number < 1 << 52
    {
      return number
    }
    throw HeartwoodError(
      .persistentStoreOperation, "\(id) is not copied: it has no number in its store", objectIDs: [id])
  }

  /// A value, or that of an element of a composite attribute.
  private static func value(_ object: ManagedObject, _ path: String) -> Any? {
    var names = path.split(separator: ".").map(String.init)
    var value = object.value(forKey: names.removeFirst())
    for name in names { value = (value as? [String: Any])?[name] }
    return value
  }

  private static func stored(_ value: Any?, _ type: AttributeDescription.AttributeType) -> StoredValue {
    switch (type, value) {
    case (_, nil), (_, is NSNull): .null
    case (.boolean, let value as Bool): .boolean(value)
    case (.double, let number as Double), (.float, let number as Double): .double(number)
    case (.float, let number as Float): .double(Double(number))
    case (.decimal, let number as Decimal): .decimal(number)
    case (.string, let text as String): .string(text)
    case (.uri, let url as URL): .string(url.absoluteString)
    case (.date, let date as Date): .date(date.timeIntervalSinceReferenceDate)
    case (.uuid, let uuid as UUID): .uuid(uuid)
    case (_, let data as Data): .data(data)
    case (_, let kept as KeptBytes): .data(kept.bytes)
    case (_, let number as any BinaryInteger): .integer(Int64(clamping: number))
    default: .null
    }
  }

  /// Whether another object has the same values; two that are no numbers are the same.
  func isSame(as other: CopiedObject) -> Bool {
    entity.name == other.entity.name && values.count == other.values.count
      && zip(values, other.values).allSatisfy { left, right in
        switch (left, right) {
        case (.double(let left), .double(let right)), (.date(let left), .date(let right)):
          left == right || left.isNaN && right.isNaN
        default: left == right
        }
      }
  }
}

/// The bytes of a transformable value whose transformer the program does not have: they are copied as they are.
struct KeptBytes: TransformableValue, Codable {
  let bytes: Data

  struct Transformer: ValueTransforming {
    func bytes(of value: KeptBytes) -> Data { value.bytes }
    func value(of bytes: Data) -> KeptBytes { KeptBytes(bytes: bytes) }
  }

  static var valueTransformer: Transformer { Transformer() }

  /// Has the transformable values of a model read as bytes.
  static func register(for model: ManagedObjectModel) {
    let known = Set(ValueTransformers.names)
    for entity in model.entities {
      for case let attribute as AttributeDescription in entity.storedProperties
      where attribute.type == .transformable {
        if let name = attribute.valueTransformerName, !known.contains(name) {
          ValueTransformers.register(Transformer(), as: name)
        }
      }
    }
  }
}
