import Foundation
import HeartwoodBytes

/// A hash of the form of an entity's rows: equal for models that can read each other's rows.
///
/// Includes names, types, optionality, inheritance, abstractness, uniqueness, relationships and hash modifiers. Does not
/// include defaults, delete rules, indexes, classes, user info and the order of properties.
struct VersionHash: Hashable, Sendable {
  let high: UInt64
  let low: UInt64

  init(_ entity: EntityDescription) {
    var text = HashedText()
    text.add(entity.displayName)
    text.add(entity.versionHashModifier)
    text.add(entity.isAbstract)
    text.add(entity.superentity?.displayName)
    for constraint in entity.uniquenessConstraints.map({ $0.joined(separator: "\u{1}") }).sorted() {
      text.add(constraint)
    }
    for property in entity.ownProperties.sorted(by: { $0.name < $1.name })
    where !(property is FetchedPropertyDescription) { text.add(property) }
    self.init(text.bytes)
  }

  init(_ bytes: [UInt8]) {
    (high, low) = bytes.withUnsafeBytes { (XXH3.hash($0, seed: 0), XXH64.hash($0, seed: 0x68_65_61_72_74)) }
  }

  /// The hash as 16 bytes.
  var data: Data {
    Data([high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } })
  }
}

/// A sequence of fields, each with its length, so that different sequences have different bytes.
private struct HashedText {
  var bytes: [UInt8] = []

  mutating func add(_ text: String?) {
    guard let text else { return bytes.append(0) }
    let utf8 = Array(text.utf8)
    bytes.append(1)
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: utf8.count).littleEndian) { bytes.append(contentsOf: $0) }
    bytes += utf8
  }

  mutating func add(_ flag: Bool) { bytes.append(flag ? 3 : 2) }

  mutating func add(_ number: Int) { add("\(number)") }

  mutating func add(_ property: PropertyDescription) {
    add(property.name)
    add(property.versionHashModifier)
    add(property.isOptional)
    if property.isTransient { add("transient") }
    if let attribute = property as? AttributeDescription {
      add("attribute")
      add(attribute.type.rawValue)
      let elements = (attribute as? CompositeAttributeDescription)?.elements ?? []
      for element in elements.sorted(by: { $0.name < $1.name }) { add(element) }
      if attribute.type == .composite { add("end") }
      if let derivation = attribute.derivation {
        add("derived")
        add(derivation)
      }
    }
    if let relationship = property as? RelationshipDescription {
      add("relationship")
      add(relationship.destinationEntity?.displayName)
      add(relationship.inverseRelationship?.name)
      add(relationship.minCount)
      add(relationship.maxCount)
      add(relationship.isOrdered)
    }
  }
}

extension EntityDescription {
  /// A hash of the form of the entity's rows, with what it inherits; reading it freezes the model, if the entity is in one.
  @_disfavoredOverload public var versionHash: Data {
    guard let parent = superentity, !inheritsFromItself else { return ownVersionHash }
    var text = HashedText()
    text.add(ownVersionHash.base64EncodedString())
    text.add(parent.versionHash.base64EncodedString())
    return VersionHash(text.bytes).data
  }

  /// The hash without what the entity inherits: that of stores, which have one for each entity, and of earlier versions of this library.
  package var ownVersionHash: Data { (model == nil ? VersionHash(self) : compiled.versionHash).data }

  /// Whether this is the version hash, also as earlier versions of this library computed it.
  package func hasVersionHash(_ hash: Data) -> Bool { hash == versionHash || hash == ownVersionHash }
}

extension PropertyDescription {
  /// A hash of what of the property is part of the entity's.
  package final var anyVersionHash: Data {
    var text = HashedText()
    text.add(self)
    return VersionHash(text.bytes).data
  }
}

extension ManagedObjectModel {
  /// The version hashes of the entities by name; reading them freezes the model.
  @_disfavoredOverload public var entityVersionHashesByName: [String: Data] {
    entitiesByName.mapValues(\.versionHash)
  }

  /// Whether these are the version hashes of the model's entities by name, also as earlier versions of this library computed them: without
  /// what an entity inherits. Reading them freezes the model.
  public func hasVersionHashes(_ hashes: [String: Data]) -> Bool {
    let entities = entitiesByName
    return hashes.count == entities.count
      && hashes.allSatisfy { entities[$0.key]?.hasVersionHash($0.value) == true }
  }

  /// A text that is equal for models whose entities have equal version hashes; reading it freezes the model.
  @_disfavoredOverload public var versionChecksum: String {
    Self.checksum(of: entitiesByName.mapValues(\.ownVersionHash))
  }

  /// The checksum of a model with these version hashes of entities.
  package static func checksum(of hashes: [String: Data]) -> String {
    var text = HashedText()
    for (name, hash) in hashes.sorted(by: { $0.key < $1.key }) {
      text.add(name)
      text.add(hash.base64EncodedString())
    }
    return VersionHash(text.bytes).data.base64EncodedString()
  }
}
