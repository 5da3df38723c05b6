import Foundation
import Heartwood
import Observation

/// The values of models without a context, and what moves them into a context and out of it.
enum ModelValues {
  /// The values of a model without a context.
  ///
  /// - Parameter hash: The property that is read, for observers; nil for none.
  static func free<Model: PersistentModel>(of model: Model, reading hash: UInt64?) -> _FreeValues {
    let values = free(of: model)
    if let hash { noteAccess(model, values, hash) }
    return values
  }

  static func free<Model: PersistentModel>(of model: Model) -> _FreeValues {
    if let values = model._$storage.free { return values }
    let made = _FreeValues()
    model._$moveInitialValues(to: made)
    model._$storage.free = made
    return made
  }

  static func change<Model: PersistentModel>(_ model: Model, _ hash: UInt64, _ change: (_FreeValues) -> Void)
  {
    let values = free(of: model)
    guard let registrar = values.registrar else { return change(values) }
    registrar.withMutation(of: model, keyPath: \Model[_observed: hash]) { change(values) }
  }

  private static func noteAccess<Model: PersistentModel>(
    _ model: Model, _ values: _FreeValues, _ hash: UInt64
  ) {
    guard AccessProbe.isCollecting() else { return }
    let registrar = values.registrar ?? ObservationRegistrar()
    values.registrar = registrar
    values.observed.insert(hash)
    registrar.access(model, keyPath: \Model[_observed: hash])
  }

  /// Sets a property of a model in a context.
  static func set(_ value: Any, of object: _ModelObject, _ property: ModelProperty) {
    switch property.kind {
    case .attribute(let coding):
      guard let stored = coding.stored(any: value),
        object.setStoredValue(stored, property.name, property.hash)
      else {
        return object.noteProblem("\(property.name) cannot be set to \(value)")
      }
      object.keepModel()
    case .toOne, .toMany: ModelRelations.set(value, of: object, property)
    case .unknown:
      object.noteProblem("\(property.name) is of a type that cannot be stored: \(property.valueType)")
    }
  }

  /// Moves the attributes of a model into its new object. Relationships follow when all models have their objects.
  static func fill<Model: PersistentModel>(
    _ object: _ModelObject, from model: Model
  ) -> [(property: ModelProperty, models: [any PersistentModel])] {
    let values = free(of: model)
    let modelClass = ModelClass.of(type(of: model))
    var relations: [(property: ModelProperty, models: [any PersistentModel])] = []
    for property in modelClass.properties {
      switch values[property.hash] {
      case .stored(let stored)?: _ = object.setStoredValue(stored, property.name, property.hash)
      case .one(let other)?: if let other { relations.append((property, [other])) }
      case .many(let others)?: if !others.isEmpty { relations.append((property, others)) }
      case .other(let value)?:
        if property.destination != nil {
          relations.append((property, ModelRelations.models(in: value)))
        } else {
          set(value, of: object, property)
        }
      case nil: continue
      }
    }
    return relations
  }

  /// Makes the object of a model its place of values, and notifies observers.
  static func attach<Model: PersistentModel>(_ model: Model, to object: _ModelObject) {
    let values = model._$storage.free
    object.model = model
    model._$storage.object = object
    model._$storage.home = object.home
    model._$storage.free = nil
    guard let values, let registrar = values.registrar else { return }
    // What observed the values in memory reads them again, now from the object.
    for hash in values.observed { registrar.withMutation(of: model, keyPath: \Model[_observed: hash]) {} }
  }

  /// Makes a model that was deleted, or whose context is gone, one without a context, with the values that it has.
  static func detach<Model: PersistentModel>(_ model: Model) {
    guard let object = model._$storage.object else { return }
    let values = _FreeValues()
    for property in ModelClass.of(type(of: model)).properties where property.coding != nil {
      if let stored = object.storedValue(property.name, property.hash) { values.set(stored, property.hash) }
    }
    values.former = model._$storage.identifier(of: object)
    values.identifier = values.former
    object.model = nil
    object.keptModel = nil
    model._$storage.object = nil
    model._$storage.home = nil
    model._$storage.free = values
  }

  /// A model that is related to nothing, where a relationship that needs an object has none.
  static func unrelated<Model: PersistentModel>(_ type: Model.Type) -> Any {
    Model(backingData: _FreeBackingData<Model.Root>())
  }
}

extension PersistentModel {
  /// A property as observers of models without a context identify it; the value means nothing.
  subscript(_observed hash: UInt64) -> UInt64 { hash }
}

extension _ModelObject {
  /// Keeps an error for the next save.
  @usableFromInline
  final func noteProblem(_ text: String) { home?.noteProblem("\(entity.name ?? "?").\(text)") }
}
