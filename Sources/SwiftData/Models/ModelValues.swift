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
    guard values.isObserved, let registrar = values.registrar else { return change(values) }
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
      guard object.home?.isUnreadable(property.hash, of: object) != true else {
        return object.noteProblem(
          "\(property.name) was not set: its stored value could not be read, and would be lost; roll back to set it all the same"
        )
      }
      guard let stored = coding.stored(any: value) else {
        return object.noteProblem("\(property.name) cannot be set to \(value)")
      }
      // The parts of one that is refused would be none.
      if coding.elements != nil, let refusal = stored.refusal {
        return object.noteProblem("\(property.name) cannot be set to \(value): \(refusal)")
      }
      guard object.setStoredValue(stored, property.name, property.hash) else {
        return object.noteProblem("\(property.name) cannot be set to \(value)")
      }
      object.keepModel()
    case .toOne, .toMany: ModelRelations.set(value, of: object, property)
    case .unknown:
      object.noteProblem("\(property.name) is of a type that cannot be stored: \(property.valueType)")
    }
  }

  /// Sets the attributes of a model's new object. Relationships follow: see `ModelInsertion`.
  static func fill(_ object: _ModelObject, with values: _FreeValues, of modelClass: ModelClass) {
    var coded: [(property: ModelProperty, value: Any)] = []
    object.setInitialValues { setStored in
      for property in modelClass.attributes {
        switch values[property.hash] {
        case .stored(let stored)?: setStored(stored, property.name, property.hash)
        case .other(let value)?: coded.append((property, value))
        case .one?, .many?, nil: continue
        }
      }
    }
    for (property, value) in coded { set(value, of: object, property) }
  }

  /// Makes the object of a model its place of values, and notifies observers.
  static func attach<Model: PersistentModel>(
    _ model: Model, with values: _FreeValues, to object: _ModelObject, in home: ModelObjectContext
  ) {
    object.model = model
    model._$storage.enter(object, home)
    guard values.isObserved, let registrar = values.registrar else { return }
    // Observers of the values in memory read them again, now from the object.
    for hash in values.observed { registrar.withMutation(of: model, keyPath: \Model[_observed: hash]) {} }
  }

  /// Makes the models of an object that was deleted, or whose context is gone, ones without a context, with the values that it has.
  ///
  /// - Parameter hasRow: Whether a fault has values: false if the row is gone.
  static func detachModels(of object: _ModelObject, hasRow: Bool = true) {
    detachModels(of: object, with: hasRow || !object.isFault ? storedValues(of: object) : [])
  }

  /// - Parameter stored: The values, as they were read before the row was deleted.
  static func detachModels(of object: _ModelObject, with stored: [StoredValue]) {
    for model in object.models { detach(model, from: object, with: stored) }
    object.releaseModels()
  }

  /// An attribute's value, and the hash of its name.
  typealias StoredValue = (hash: UInt64, value: _Value)

  /// The values of all attributes, those in files of their own included.
  static func storedValues(of object: _ModelObject) -> [StoredValue] {
    (object.modelClass?.properties ?? []).compactMap { property in
      guard property.coding != nil else { return nil }
      return object.storedValue(property.name, property.hash).map { (property.hash, $0) }
    }
  }

  private static func detach<Model: PersistentModel>(
    _ model: Model, from object: _ModelObject, with stored: [StoredValue]
  ) {
    let values = _FreeValues()
    for (hash, value) in stored { values.set(value, hash) }
    values.former = model._$storage.identifier(of: object)
    values.identifier = values.former
    values.hashedIdentifier = object.hashedIdentifier
    model._$storage.leave(with: values)
  }

  /// Makes the models of an object that has become one with another, as both had the same unique values, models of that one.
  static func moveModels(of object: _ModelObject, to survivor: _ModelObject) {
    for model in object.models { move(model, to: survivor) }
    object.releaseModels()
  }

  private static func move<Model: PersistentModel>(_ model: Model, to object: _ModelObject) {
    model._$storage.enter(object, object.home)
    if object.model == nil { object.model = model } else { object.join(model) }
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

extension _Value {
  /// Whether it is none, or a structure without a part: nothing would be lost with it.
  fileprivate var hasNoPart: Bool {
    if case .list(let parts) = self { return parts.allSatisfy(\.hasNoPart) }
    return isNone
  }
}

extension _ModelObject {
  /// Makes the next save throw why a stored value is no value of its property's type, once for each object. Until a rollback the property is not set,
  /// so that a change of what is read in its place does not overwrite it.
  final func noteUnreadable(_ stored: _Value, _ property: ModelProperty, _ coding: AnyValueCoding) {
    guard !stored.hasNoPart, stored.refusal == nil else { return }
    guard let home, home.noteUnreadable(property.hash, of: self) else { return }
    noteProblem(
      "\(property.name) of \(persistentIdentifier.primaryKey) is no \(property.valueType) in the store: \(coding.problem(of: stored)); it reads as if it "
        + "had no value, and stays as it is; make the type read the former form, or migrate it in a custom stage"
    )
  }

  /// Keeps an error for the next save.
  @usableFromInline
  final func noteProblem(_ text: String) { home?.noteProblem("\(entity.name ?? "?").\(text)") }
}
