import Foundation
import Heartwood

/// The values of a model by the names of its properties.
public struct DefaultSnapshot: DataStoreSnapshot {
  /// The value of a property.
  enum Value: Sendable {
    case attribute(_Value)
    case toOne(PersistentIdentifier?)
    case toMany([PersistentIdentifier])
  }

  /// The identifier of the model.
  public let persistentIdentifier: PersistentIdentifier
  var values: [String: Value]

  init(_ identifier: PersistentIdentifier, _ values: [String: Value]) {
    persistentIdentifier = identifier
    self.values = values
  }

  /// The values of a model.
  init(_ model: any PersistentModel) {
    self.init(model.persistentModelID, SnapshotValues.of(model))
  }

  /// The values of a model with backing data, its relationships as identifiers.
  public init(
    from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData]
  ) {
    let model = SnapshotValues.model(of: backingData)
    self.init(model.persistentModelID, SnapshotValues.of(model))
  }

  /// The same values under another identifier, with the identifiers of related models replaced.
  public func copy(
    persistentIdentifier: PersistentIdentifier,
    remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]? = nil
  ) -> DefaultSnapshot {
    func renamed(_ identifier: PersistentIdentifier) -> PersistentIdentifier {
      remappedIdentifiers?[identifier] ?? identifier
    }
    return DefaultSnapshot(
      persistentIdentifier,
      values.mapValues { value in
        switch value {
        case .attribute: value
        case .toOne(let other): .toOne(other.map(renamed))
        case .toMany(let others): .toMany(others.map(renamed))
        }
      })
  }

  // MARK: Coding

  /// Decodes what `encode(to:)` has encoded.
  ///
  /// - Throws: `DecodingError` for anything else.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
    let identifier = try container.decode(PersistentIdentifier.self, forKey: .persistentIdentifier)
    persistentIdentifier = identifier
    values = [:]
    for key in container.allKeys {
      guard case .modeledProperty(let name) = key else { continue }
      values[name] = try container.decode(CodedValue.self, forKey: key).value
    }
  }

  /// Encodes the identifier, and each value by the name of its property.
  ///
  /// - Throws: The error of the encoder.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
    try container.encode(persistentIdentifier, forKey: .persistentIdentifier)
    for (name, value) in values {
      try container.encode(CodedValue(value: value), forKey: .modeledProperty(name))
    }
  }

  /// Sets the values of a model.
  ///
  /// - Parameter related: The models of identifiers.
  func apply(to model: any PersistentModel, related: (PersistentIdentifier) -> any PersistentModel) throws {
    for property in ModelClass.of(type(of: model)).properties {
      guard let value = values[property.name] else { continue }
      try SnapshotValues.set(value, property, of: model, related)
    }
  }
}

/// The values of models, and models of values.
enum SnapshotValues {
  static func of(_ model: any PersistentModel) -> [String: DefaultSnapshot.Value] {
    let properties = ModelClass.of(type(of: model)).properties
    return Dictionary(
      properties.compactMap { property in value(of: property, model).map { (property.name, $0) } },
      uniquingKeysWith: { first, _ in first })
  }

  private static func value<Model: PersistentModel>(
    of property: ModelProperty, _ model: Model
  ) -> DefaultSnapshot.Value? {
    guard let any = (model as Any)[keyPath: property.keyPath] else { return nil }
    switch property.kind {
    case .attribute(let coding): return coding.stored(any: any).map { .attribute($0) }
    case .toOne: return .toOne(ModelRelations.models(in: any).first?.persistentModelID)
    case .toMany: return .toMany(ModelRelations.models(in: any).map(\.persistentModelID))
    case .unknown: return nil
    }
  }

  static func set<Model: PersistentModel>(
    _ value: DefaultSnapshot.Value, _ property: ModelProperty, of model: Model,
    _ related: (PersistentIdentifier) -> any PersistentModel
  ) throws {
    switch value {
    case .attribute(let stored):
      if let object = model._$storage.object {
        _ = object.setStoredValue(stored, property.name, property.hash)
        object.keepModel()
      } else {
        ModelValues.free(of: model).set(stored, property.hash)
      }
    case .toOne(let identifier):
      let destination: [any PersistentModel] = identifier.map { [related($0)] } ?? []
      ModelRelations.assign(destination, property, of: model)
    case .toMany(let identifiers): ModelRelations.assign(identifiers.map(related), property, of: model)
    }
  }

  /// A model with backing data.
  static func model(of backingData: any BackingData) -> any PersistentModel {
    func open<Backing: BackingData>(_ backing: Backing) -> any PersistentModel { make(backing) }
    return open(backingData)
  }

  private static func make<Backing: BackingData>(_ backing: Backing) -> any PersistentModel {
    if let object = (backing as? any ObjectBacking)?.backingObject, let model = object.home?.model(of: object)
    {
      return model
    }
    func open<Model: PersistentModel>(_ type: Model.Type) -> any PersistentModel {
      guard let backing = backing as? any BackingData<Model.Root> else {
        return Model(backingData: _FreeBackingData<Model.Root>())
      }
      return Model(backingData: backing)
    }
    return open(Backing.Model.self)
  }
}

/// Backing data of an object, whatever the class of its model is.
protocol ObjectBacking {
  var backingObject: _ModelObject { get }
}

extension _ObjectBackingData: ObjectBacking {
  var backingObject: _ModelObject { object }
}

extension ModelRelations {
  /// Sets a relationship of a model by its name.
  static func assign<Model: PersistentModel>(
    _ models: [any PersistentModel], _ property: ModelProperty, of model: Model
  ) {
    guard let object = model._$storage.object, let context = object.home,
      let slot = object.slotIndex(named: property.name, property.hash)
    else { return }
    let destinations = models.compactMap { context.object(of: $0, relating: property.name) }
    if case .toMany = property.kind {
      object.setStoredDestinations(destinations, at: slot)
    } else {
      object.setStoredDestination(destinations.first, at: slot)
    }
    object.keepModel()
  }
}

/// A value of a snapshot as it is encoded: a text that names its kind, and the value.
private struct CodedValue: Codable {
  let value: DefaultSnapshot.Value

  init(value: DefaultSnapshot.Value) { self.value = value }

  private enum CodingKeys: String, CodingKey {
    case null, int, double, decimal, bool, string, date, data, uuid, url, list, toOne, toMany
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    guard let key = container.allKeys.first else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "a value without a kind"))
    }
    switch key {
    case .null: value = .attribute(.null)
    case .int: value = .attribute(.int(try container.decode(Int64.self, forKey: key)))
    case .double: value = .attribute(.double(try container.decode(Double.self, forKey: key)))
    case .decimal: value = .attribute(.decimal(try container.decode(Decimal.self, forKey: key)))
    case .bool: value = .attribute(.bool(try container.decode(Bool.self, forKey: key)))
    case .string: value = .attribute(.string(try container.decode(String.self, forKey: key)))
    case .date: value = .attribute(.date(try container.decode(Double.self, forKey: key)))
    case .data: value = .attribute(.data(try container.decode(Data.self, forKey: key)))
    case .uuid: value = .attribute(.uuid(try container.decode(UUID.self, forKey: key)))
    case .url: value = .attribute(.url(try container.decode(String.self, forKey: key)))
    case .list:
      let parts = try container.decode([CodedValue].self, forKey: key).map(\.value)
      value = .attribute(
        .list(
          parts.map { part in
            if case .attribute(let stored) = part { stored } else { .null }
          }))
    case .toOne: value = .toOne(try container.decode(PersistentIdentifier?.self, forKey: key))
    case .toMany: value = .toMany(try container.decode([PersistentIdentifier].self, forKey: key))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch value {
    case .toOne(let identifier): try container.encode(identifier, forKey: .toOne)
    case .toMany(let identifiers): try container.encode(identifiers, forKey: .toMany)
    case .attribute(let stored):
      switch stored {
      case .int(let value): try container.encode(value, forKey: .int)
      case .double(let value): try container.encode(value, forKey: .double)
      case .decimal(let value): try container.encode(value, forKey: .decimal)
      case .bool(let value): try container.encode(value, forKey: .bool)
      case .string(let value): try container.encode(value, forKey: .string)
      case .date(let value): try container.encode(value, forKey: .date)
      case .data(let value): try container.encode(value, forKey: .data)
      case .uuid(let value): try container.encode(value, forKey: .uuid)
      case .url(let value): try container.encode(value, forKey: .url)
      case .list(let values):
        try container.encode(values.map { CodedValue(value: .attribute($0)) }, forKey: .list)
      case .null, .object, .opaque: try container.encodeNil(forKey: .null)
      }
    }
  }
}
