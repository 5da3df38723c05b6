import Foundation
import Heartwood

/// The values of a snapshot of any type, by the names of properties: as it encodes itself.
struct SnapshotContents: @unchecked Sendable {
  let identifier: PersistentIdentifier
  /// Stored forms of a snapshot of this module.
  private let values: [String: DefaultSnapshot.Value]
  /// Values as a snapshot of a program encodes them.
  private let encoded: [String: Any]

  /// - Throws: The error of the snapshot when it is encoded.
  init(_ snapshot: some DataStoreSnapshot) throws {
    identifier = snapshot.persistentIdentifier
    if let own = snapshot as? DefaultSnapshot {
      values = own.values
      encoded = [:]
    } else {
      let collector = SnapshotCollector()
      try snapshot.encode(to: collector)
      values = [:]
      encoded = collector.values
    }
  }

  /// The stored form of an attribute; nil for one that the snapshot does not have.
  func stored(_ name: String, _ coding: AnyValueCoding) -> _Value? {
    if case .attribute(let stored)? = values[name] { return stored }
    return encoded[name].flatMap { coding.stored(any: $0) }
  }

  /// The destinations of a relationship.
  func identifiers(_ name: String) -> [PersistentIdentifier] {
    switch values[name] {
    case .toOne(let identifier)?: return identifier.map { [$0] } ?? []
    case .toMany(let identifiers)?: return identifiers
    default: break
    }
    switch encoded[name] {
    case let identifier as PersistentIdentifier: return [identifier]
    case let identifiers as [PersistentIdentifier]: return identifiers
    default: return []
    }
  }
}

/// Collects what a snapshot encodes at its top, as values.
private final class SnapshotCollector: Encoder {
  var values: [String: Any] = [:]
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(Keyed<Key>(collector: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { Refusing() }
  func singleValueContainer() -> any SingleValueEncodingContainer { Single(collector: self) }

  private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let collector: SnapshotCollector
    var codingPath: [any CodingKey] { [] }
    mutating func encodeNil(forKey key: Key) throws {}
    mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
      collector.values[key.stringValue] = value
    }
    mutating func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { KeyedEncodingContainer(Keyed<Nested>(collector: collector)) }
    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { Refusing() }
    mutating func superEncoder() -> any Encoder { collector }
    mutating func superEncoder(forKey key: Key) -> any Encoder { collector }
  }

  /// A snapshot that encodes itself as a dictionary of its values.
  private struct Single: SingleValueEncodingContainer {
    let collector: SnapshotCollector
    var codingPath: [any CodingKey] { [] }
    mutating func encodeNil() throws {}
    mutating func encode<Value: Encodable>(_ value: Value) throws { try value.encode(to: collector) }
  }

  private struct Refusing: UnkeyedEncodingContainer {
    var codingPath: [any CodingKey] { [] }
    var count: Int { 0 }
    private var refusal: EncodingError {
      .invalidValue(
        0, .init(codingPath: [], debugDescription: "a snapshot encodes values by the names of properties"))
    }
    mutating func encodeNil() throws { throw refusal }
    mutating func encode<Value: Encodable>(_ value: Value) throws { throw refusal }
    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<
      Nested
    > {
      KeyedEncodingContainer(Keyed<Nested>(collector: SnapshotCollector()))
    }
    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { Refusing() }
    mutating func superEncoder() -> any Encoder { SnapshotCollector() }
  }
}

/// Makes snapshots of models.
enum SnapshotMaking {
  static func snapshot<Snapshot: DataStoreSnapshot>(
    of model: any PersistentModel, as type: Snapshot.Type
  ) -> Snapshot {
    if Snapshot.self == DefaultSnapshot.self, let own = DefaultSnapshot(model) as? Snapshot { return own }
    func open<Model: PersistentModel>(_ model: Model) -> Snapshot {
      var related: [PersistentIdentifier: any BackingData] = [:]
      return Snapshot(from: model.persistentBackingData, relatedBackingDatas: &related)
    }
    return open(model)
  }
}
