import Foundation
import Heartwood

/// A predicate on models, as a condition of the graph.
struct ModelPredicate<Model: PersistentModel>: FetchPredicate, @unchecked Sendable {
  let descriptor: FetchDescriptor<Model>
  private let predicate: Predicate<Model>
  private let objects: ModelObjectContext

  init(_ predicate: Predicate<Model>, _ descriptor: FetchDescriptor<Model>, _ objects: ModelObjectContext) {
    self.predicate = predicate
    self.descriptor = descriptor
    self.objects = objects
  }

  func conditionTree(for entity: EntityDescription) throws(HeartwoodError) -> Condition {
    try predicate.conditionTree(for: entity, in: ModelVocabulary(objects))
  }
}

/// The names of the classes of models and their properties in the graph.
struct ModelVocabulary: PredicateVocabulary {
  private let objects: ModelObjectContext

  init(_ objects: ModelObjectContext) { self.objects = objects }

  func names(of keyPath: AnyKeyPath, from root: any Any.Type) throws(HeartwoodError) -> [String]? {
    if let type = root as? any PersistentModel.Type {
      if type._isIdentity(keyPath) { return [] }
      if let names = ModelClass.of(type).names(of: keyPath) { return names }
      throw HeartwoodError(
        .coreData,
        "\(KeyPathText.of(keyPath, type)) is no property that is stored: filter the fetched models by it")
    }
    if let type = root as? any RawRepresentable.Type, type._readsRawValue(keyPath) { return [] }
    return StructureFields.name(of: keyPath, in: root).map { [$0] }
  }

  func entityName(of type: any Any.Type) -> String? {
    (type as? any PersistentModel.Type).map { ModelClass.of($0).name }
  }

  func isToMany(_ type: any Any.Type) -> Bool {
    type is any RelationshipCollection.Type
  }

  /// Whether a type is one of models or their identifiers, which are objects in conditions.
  private func isOfObjects(_ type: any Any.Type) -> Bool {
    let type = (type as? any OptionalType.Type)?.wrappedType ?? type
    return type == PersistentIdentifier.self || type is any PersistentModel.Type
  }

  func checkOrder(of type: any Any.Type) throws(HeartwoodError) {
    guard !isOfObjects(type), ValueCodings.coding(of: type)?.keepsOrder == false else { return }
    throw HeartwoodError(
      .coreData,
      "\(type) is stored in a form that has another order: compare the values of the fetched models"
    )
  }

  func checkEquality(of type: any Any.Type, with constant: Any?) throws(HeartwoodError) {
    guard !isOfObjects(type), ValueCodings.coding(of: type)?.keepsEquality == false else { return }
    // A case without values has one encoding, which no other case has.
    if let constant {
      let mirror = Mirror(reflecting: (constant as? any OptionalType)?.wrapped ?? constant)
      if mirror.displayStyle == .enum, mirror.children.isEmpty { return }
    }
    throw HeartwoodError(
      .coreData, "\(type) is stored as one encoding: compare the values of the fetched models")
  }

  func constant(_ value: Any) throws(HeartwoodError) -> ConditionExpression? {
    if let optional = value as? any OptionalType {
      guard let wrapped = optional.wrapped else { return .value(.null) }
      return try constant(wrapped)
    }
    if let model = value as? any PersistentModel { return identity(of: model) }
    if let identifier = value as? PersistentIdentifier { return object(identifier) }
    if let result = value as? ComparisonResult { return .value(.int(Int64(result.rawValue))) }
    guard !(value is any AttributeValue), !(value is any Collection), !(value is any RangeExpression) else {
      return nil
    }
    guard let coding = ValueCodings.coding(of: type(of: value)), let stored = coding.stored(any: value) else {
      return nil
    }
    return .value(stored)
  }

  private func identity(of model: any PersistentModel) -> ConditionExpression {
    if let object = model._$storage.object, object.belongs(to: objects) { return ConditionExpression(object) }
    return object(model.persistentModelID)
  }

  /// An object by its identifier; one that no store has equals none.
  private func object(_ identifier: PersistentIdentifier) -> ConditionExpression {
    if let object = objects.object(temporary: identifier) { return ConditionExpression(object) }
    if let id = objects.objectID(of: identifier) { return .value(.object(id)) }
    return .value(.list([]))
  }
}

/// Key paths as messages name them.
enum KeyPathText {
  /// The key path; what it is where it has no name.
  static func of(_ keyPath: AnyKeyPath, _ type: any Any.Type) -> String {
    let text = "\(keyPath)"
    return text.contains("<computed")
      ? "a computed property of \(type), of type \(keyPath.readType)," : "\(text) of \(type)"
  }
}

extension PersistentModel {
  /// Whether a key path reads the identifier of a model.
  static func _isIdentity(_ keyPath: AnyKeyPath) -> Bool {
    // The two that a model has by itself. A generic key path to `id` is that of `Identifiable`.
    let own: KeyPath<Self, PersistentIdentifier> = \Self.id
    if keyPath == \Self.persistentModelID || keyPath == own { return true }
    guard Self.ID.self == PersistentIdentifier.self else { return false }
    return keyPath == \Self.id && ModelClass.of(Self.self).property(named: "id") == nil
  }
}

extension RawRepresentable {
  /// Whether a key path reads the raw value. The key path of a concrete type differs from the one that can be written here, so it is tried on a value.
  static func _readsRawValue(_ keyPath: AnyKeyPath) -> Bool {
    guard let path = keyPath as? KeyPath<Self, RawValue>,
      let sample = PlaceholderValue.make(Self.self) as? Self
    else {
      return false
    }
    return "\(sample[keyPath: path])" == "\(sample.rawValue)"
  }
}

/// Orders of models.
struct ModelSort: FetchSort {
  let sortKey: SortKey

  /// - Throws: `SwiftDataError.unsupportedSortDescriptor` for an order by anything but properties.
  init<Model: PersistentModel>(_ descriptor: SortDescriptor<Model>) throws {
    guard let keyPath = descriptor.keyPath else {
      throw SwiftDataError(
        .unsupportedSortDescriptor,
        "it compares \(Model.self) as a whole: name a property, or sort the fetched models")
    }
    let isAscending = descriptor.order == .forward
    if Model._isIdentity(keyPath) {
      sortKey = SortKey(names: "objectID", isAscending: isAscending)
      return
    }
    guard let names = ModelClass.of(Model.self).names(of: keyPath) else {
      throw SwiftDataError(
        .unsupportedSortDescriptor,
        "\(KeyPathText.of(keyPath, Model.self)) is no property that is stored: sort by an enumeration itself in place of its raw value, and by what is computed sort the fetched models"
      )
    }
    if ModelClass.of(Model.self).coding(at: names)?.keepsOrder == false {
      throw SwiftDataError(
        .unsupportedSortDescriptor,
        "\(names.joined(separator: ".")) of \(Model.self) is stored in a form that has another order: sort the fetched models by it"
      )
    }
    sortKey = SortKey(
      names: names.joined(separator: "."), isAscending: isAscending, options: keyPath.textOrder ?? [])
  }
}
