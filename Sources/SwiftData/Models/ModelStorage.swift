import Foundation
import Heartwood
import HeartwoodBytes

/// Where a model has its values: in an object of the graph, or in memory before it is inserted and after it is deleted. Not meant to be
/// used.
public struct _ModelStorage {
  @usableFromInline private(set) var object: _ModelObject?
  /// The object as reads of its row have it: to count a reference takes as long as all else of a read.
  @usableFromInline private(set) var unretained: Unmanaged<_ModelObject>?
  /// Keeps the context of the object, so that models may outlive the `ModelContext` that they were fetched with.
  var home: AnyObject?
  /// The values of a model without a context.
  @usableFromInline var free: _FreeValues?
  var probe: PathProbe?

  /// A place for the values of a new model.
  public init() {}

  /// Takes the object of backing data.
  public mutating func adopt<Model: PersistentModel>(
    _ backingData: any BackingData<Model.Root>, by model: Model
  ) {
    switch backingData._place {
    case .next: ModelMaking.enterObject(&self, of: model)
    case .object(let object):
      object.model = model
      enter(object, object.home)
    case .free(let values): free = values
    case .probed: break
    case .other: free = _FreeValues()
    }
  }

  /// Has the values of an object from now on.
  mutating func enter(_ object: consuming _ModelObject, _ home: consuming AnyObject?) {
    unretained = .passUnretained(object)
    self.object = object
    self.home = home
    free = nil
  }

  /// Has values in memory from now on.
  mutating func leave(with values: _FreeValues) {
    object = nil
    unretained = nil
    home = nil
    free = values
  }
}

extension _ModelStorage {
  // MARK: Values that rows have as they are

  /// The value of an attribute.
  @inlinable @inline(__always)
  public static func getValue<Model: PersistentModel, Value: AttributeValue>(
    _ model: Model, _ key: String, _ name: UInt64
  ) -> Value {
    if let object = model._$storage.unretained,
      let value: Value = object._withUnsafeGuaranteedRef({ $0._exposedValue(name) }), !_isObserving()
    {
      return value
    }
    return otherValue(model, key, name)
  }

  @inlinable @inline(never)
  static func otherValue<Model: PersistentModel, Value: AttributeValue>(
    _ model: Model, _ key: String, _ name: UInt64
  ) -> Value {
    guard let object = model._$storage.object else { return freeValue(model, name) }
    return value(of: object, key, name) ?? missingValue(model, name)
  }

  /// Whether the thread collects reads for observers.
  @usableFromInline @inline(never)
  static func _isObserving() -> Bool { AccessProbe.isCollecting() }

  /// The value of a row that is not at hand, or that is observed.
  @inlinable
  static func value<Value: AttributeValue>(of object: _ModelObject, _ key: String, _ name: UInt64) -> Value? {
    object.noteRead(key, name)
    return object._typedValue(key, name)
  }

  @usableFromInline @inline(never)
  static func freeValue<Model: PersistentModel, Value: AttributeValue>(
    _ model: Model, _ name: UInt64
  ) -> Value {
    if let probe = model._$storage.probe { return probe.read(model, name) }
    switch ModelValues.free(of: model, reading: name)[name] {
    case .stored(let stored)?: return Value(stored) ?? missingValue(model, name)
    case .other(let any)?: return (any as? Value) ?? missingValue(model, name)
    case .one?, .many?, nil: return missingValue(model, name)
    }
  }

  /// Sets an attribute.
  @inlinable @inline(__always)
  public static func setValue<Model: PersistentModel, Value: AttributeValue>(
    _ model: Model, _ value: Value, _ key: String, _ name: UInt64
  ) {
    if let object = model._$storage.object { return setValue(of: object, value, key, name) }
    if let free = model._$storage.free, free.setUnobserved(value._value, name) { return }
    setFree(model, value._value, name)
  }

  @usableFromInline
  static func setValue<Value: AttributeValue>(
    of object: _ModelObject, _ value: Value, _ key: String, _ name: UInt64
  ) {
    guard object._setTypedValue(value, key, name) else {
      return object.noteProblem("\(key) cannot be set to \(value)")
    }
    object.keepModel()
  }

  @usableFromInline
  static func setFree<Model: PersistentModel>(_ model: Model, _ stored: _Value, _ name: UInt64) {
    ModelValues.change(model, name) { $0.set(stored, name) }
  }

  // MARK: Other values

  /// The value of a property whose type is not known to the macro.
  @inlinable
  public static func getProperty<Model: PersistentModel, Value: AttributeValue>(
    _ model: Model, _ key: String, _ name: UInt64
  ) -> Value { getValue(model, key, name) }

  /// Sets a property whose type is not known to the macro.
  @inlinable
  public static func setProperty<Model: PersistentModel, Value: AttributeValue>(
    _ model: Model, _ value: Value, _ key: String, _ name: UInt64
  ) { setValue(model, value, key, name) }

  /// The value of a property that is stored in a form of its own.
  @_disfavoredOverload
  public static func getProperty<Model: PersistentModel, Value>(_ model: Model, _ key: String, _ name: UInt64)
    -> Value
  {
    codedValue(model, key, name)
  }

  /// Sets a property that is stored in a form of its own.
  @_disfavoredOverload
  public static func setProperty<Model: PersistentModel, Value>(
    _ model: Model, _ value: Value, _ key: String, _ name: UInt64
  ) { setCoded(model, value, key, name) }

  /// The value of an attribute that a transformer stores.
  public static func getTransformed<Model: PersistentModel, Value>(
    _ model: Model, _ key: String, _ name: UInt64
  )
    -> Value
  {
    codedValue(model, key, name)
  }

  /// Sets an attribute that a transformer stores.
  public static func setTransformed<Model: PersistentModel, Value>(
    _ model: Model, _ value: Value, _ key: String, _ name: UInt64
  ) { setCoded(model, value, key, name) }

  private static func codedValue<Model: PersistentModel, Value>(
    _ model: Model, _ key: String, _ name: UInt64
  ) -> Value {
    let storage = model._$storage
    if let probe = storage.probe { return probe.read(model, name) }
    guard let property = ModelClass.of(Swift.type(of: model)).property(name) else {
      return missingValue(model, name)
    }
    if let object = storage.object {
      object.noteOwnAccess(key, name)
      let found: Value?
      switch property.kind {
      case .attribute(let coding):
        let stored = object.storedValue(key, name)
        found = stored.flatMap { value($0, coding) }
        if let stored, case nil = found { object.noteUnreadable(stored, property, coding) }
      case .toOne: found = ModelRelations.destination(of: object, property) as? Value
      case .toMany:
        found = (Value.self as? any RelationshipCollection.Type).flatMap {
          ModelRelations.destinations(of: object, property, in: $0) as? Value
        }
      case .unknown: found = nil
      }
      return found ?? missingValue(model, name)
    }
    switch ModelValues.free(of: model, reading: name)[name] {
    case .stored(let stored)?:
      return property.coding.flatMap { value(stored, $0) } ?? missingValue(model, name)
    case .one(let related)?: return (related as? Value) ?? missingValue(model, name)
    case .many(let related)?: return (related as? Value) ?? missingValue(model, name)
    case .other(let any)?: return (any as? Value) ?? missingValue(model, name)
    case nil: return missingValue(model, name)
    }
  }

  private static func value<Value>(_ stored: _Value, _ coding: AnyValueCoding) -> Value? {
    if let coding = coding as? ValueCoding<Value> { return coding.value(stored) }
    return coding.value(any: stored) as? Value
  }

  private static func setCoded<Model: PersistentModel, Value>(
    _ model: Model, _ value: Value, _ key: String, _ name: UInt64
  ) {
    guard let property = ModelClass.of(Swift.type(of: model)).property(name) else { return }
    if let object = model._$storage.object {
      return ModelValues.set(value, of: object, property)
    }
    ModelValues.change(model, name) { $0.set(.other(value), name) }
    if property.destination != nil {
      ModelRelations.joinContext(of: ModelRelations.models(in: value), model, property)
    }
  }

  /// The value of a property whose stored value is missing: the value of its declaration, otherwise none, zero or empty.
  @usableFromInline @inline(never)
  static func missingValue<Model: PersistentModel, Value>(_ model: Model, _ name: UInt64) -> Value {
    if let none = Value.self as? any OptionalType.Type, let value = none.none as? Value { return value }
    if let collection = Value.self as? any RelationshipCollection.Type,
      let empty = ModelRelations.empty(collection) as? Value
    {
      return empty
    }
    let property = ModelClass.of(Swift.type(of: model)).property(name)
    if let value = property?.defaultValue as? Value { return value }
    if let type = Value.self as? any PersistentModel.Type, let value = ModelValues.unrelated(type) as? Value {
      return value
    }
    if let value = PlaceholderValue.make(Value.self) as? Value { return value }
    programError(
      "\(property?.name ?? "a property") of \(Model.self) has no value, and \(Value.self) none that could be returned in its place"
    )
  }
}

/// The type of the variables that take the place of a model's stored ones. Not meant to be used.
public struct _SwiftDataNoType: Sendable {
  /// The only value.
  public init() {}
}
