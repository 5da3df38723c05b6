import CoreData
import Heartwood

/// Properties that lead to models, in the types that the compiler knows them by.
extension _ModelStorage {
  /// The model that a property leads to; nil for none.
  @inlinable
  public static func getProperty<Model: PersistentModel, Other: PersistentModel>(
    _ model: Model, _ key: String, _ name: UInt64
  ) -> Other? {
    if let object = model._$storage.object { return related(object, key, name) }
    return freeRelated(model, name)
  }

  /// The model that a property leads to, which must be one.
  @inlinable
  public static func getProperty<Model: PersistentModel, Other: PersistentModel>(
    _ model: Model, _ key: String, _ name: UInt64
  ) -> Other {
    if let object = model._$storage.object {
      return related(object, key, name) ?? missingValue(model, name)
    }
    return freeMandatory(model, name)
  }

  /// The models that a property leads to, in the order of their insertion.
  @inlinable
  public static func getProperty<Model: PersistentModel, Other: PersistentModel>(
    _ model: Model, _ key: String, _ name: UInt64
  ) -> [Other] {
    if let object = model._$storage.object { return allRelated(object, key, name) }
    return allFree(model, name)
  }

  // Functions that know the class are inlined, so that the compiler does: otherwise an optional model is of a type that is looked up at
  // run time.

  @inlinable
  static func related<Other: PersistentModel>(_ object: _ModelObject, _ key: String, _ name: UInt64) -> Other?
  {
    guard let destination = destination(of: object, key, name) else { return nil }
    return known(destination) ?? made(of: destination, beside: object)
  }

  @inlinable
  static func allRelated<Other: PersistentModel>(
    _ object: _ModelObject, _ key: String, _ name: UInt64
  ) -> [Other] {
    if let known: [Other] = lastList(of: object, key) {
      object.noteRead(key, name)
      return known
    }
    let destinations = destinations(of: object, key, name)
    let all: [Other] = destinations.compactMap { known($0) ?? madeOfSeveral($0, beside: object) }
    if all.count == destinations.count { noteList(all, of: object, key) }
    return all
  }

  /// The list that a relationship was last read as, if it is the same now, or only models have come or gone since that the program has.
  @usableFromInline
  static func lastList<Other: PersistentModel>(of object: _ModelObject, _ key: String) -> [Other]? {
    object.relatedObjects(forKey: key).lastCollection(as: [Other].self) { list, destination, isAdded in
      let destination = unsafeDowncast(destination, to: _ModelObject.self)
      guard let model: Other = known(destination) else { return false }
      return list.change(model, isAdded: isAdded)
    }
  }

  @usableFromInline
  static func noteList(_ list: Any, of object: _ModelObject, _ key: String) {
    if object.home?.keepsModels == true { object.relatedObjects(forKey: key).noteRead(list) }
  }

  /// The model of an object that the program has, if it is exactly of the class.
  @inlinable @inline(__always)
  static func known<Other: PersistentModel>(_ object: _ModelObject) -> Other? {
    guard let known = object.anyModel, type(of: known) == Other.self else { return nil }
    return unsafeDowncast(known, to: Other.self)
  }

  @usableFromInline
  static func destination(of object: _ModelObject, _ key: String, _ name: UInt64) -> _ModelObject? {
    object.noteOwnAccess(key, name)
    let destination = object._toOneDestination(name) ?? object._destination(key)
    return destination.map { unsafeDowncast($0, to: _ModelObject.self) }
  }

  @usableFromInline
  static func destinations(of object: _ModelObject, _ key: String, _ name: UInt64) -> [_ModelObject] {
    object.noteOwnAccess(key, name)
    return object._destinations(key).map { unsafeDowncast($0, to: _ModelObject.self) }
  }

  @usableFromInline
  static func made<Other: PersistentModel>(
    of destination: _ModelObject, beside object: _ModelObject
  ) -> Other? { object.home?.destination(destination, as: Other.self) }

  @usableFromInline
  static func madeOfSeveral<Other: PersistentModel>(
    _ destination: _ModelObject, beside object: _ModelObject
  ) -> Other? { object.home?.model(of: destination, as: Other.self) }

  // MARK: Without a context

  @usableFromInline
  static func freeRelated<Model: PersistentModel, Other: PersistentModel>(
    _ model: Model, _ name: UInt64
  ) -> Other? {
    if let probe = model._$storage.probe { return probe.read(model, name) }
    guard case .one(let other)? = ModelValues.free(of: model, reading: name)[name] else {
      return otherRelated(model, name)
    }
    return other.flatMap { ModelRelations.cast($0) }
  }

  @usableFromInline
  static func freeMandatory<Model: PersistentModel, Other: PersistentModel>(
    _ model: Model, _ name: UInt64
  ) -> Other {
    if let probe = model._$storage.probe { return probe.read(model, name) }
    return freeRelated(model, name) ?? missingValue(model, name)
  }

  @usableFromInline
  static func allFree<Model: PersistentModel, Other: PersistentModel>(
    _ model: Model, _ name: UInt64
  ) -> [Other] {
    if let probe = model._$storage.probe { return probe.read(model, name) }
    guard case .many(let others)? = ModelValues.free(of: model, reading: name)[name] else {
      return otherRelated(model, name) ?? missingValue(model, name)
    }
    return others.compactMap { ModelRelations.cast($0) }
  }

  /// A value in memory that was set in another type.
  private static func otherRelated<Model: PersistentModel, Value>(_ model: Model, _ name: UInt64) -> Value? {
    guard case .other(let any)? = ModelValues.free(of: model, reading: name)[name] else { return nil }
    return any as? Value
  }

  /// Sets the model that a property leads to, or nil.
  @inlinable
  public static func setProperty<Model: PersistentModel, Other: PersistentModel>(
    _ model: Model, _ value: Other?, _ key: String, _ name: UInt64
  ) { setRelated(model, value, name) }

  /// Sets the model that a property leads to.
  @inlinable
  public static func setProperty<Model: PersistentModel, Other: PersistentModel>(
    _ model: Model, _ value: Other, _ key: String, _ name: UInt64
  ) { setRelated(model, value, name) }

  /// Sets the models that a property leads to.
  public static func setProperty<Model: PersistentModel, Other: PersistentModel>(
    _ model: Model, _ value: [Other], _ key: String, _ name: UInt64
  ) {
    guard let property = ModelClass.of(Swift.type(of: model)).property(name) else { return }
    if let object = model._$storage.object { return ModelRelations.setList(value, of: object, property) }
    ModelValues.change(model, name) { $0.set(.many(value), name) }
    ModelRelations.joinContext(of: value, model, property)
  }

  @usableFromInline
  static func setRelated<Model: PersistentModel>(
    _ model: Model, _ value: (any PersistentModel)?, _ name: UInt64
  ) {
    guard let property = ModelClass.of(Swift.type(of: model)).property(name) else { return }
    if let object = model._$storage.object { return ModelRelations.setOne(value, of: object, property) }
    ModelValues.change(model, name) { $0.set(.one(value), name) }
    if let value { ModelRelations.joinContext(of: value, model, property) }
  }
}
