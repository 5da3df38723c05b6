import Heartwood
import HeartwoodBytes

/// Where a model has its values.
public protocol BackingData<Model> {
  /// The class of the model, or its topmost superclass of models.
  associatedtype Model: PersistentModel
  /// The identifier; nil for values of no object.
  var persistentModelID: PersistentIdentifier? { get set }
  /// The data that a kind of store keeps beside the values.
  var metadata: Any { get }
  /// Empty values for a new model.
  init(for modelType: Model.Type)
  /// The value of a property.
  func getValue<Value>(forKey keyPath: KeyPath<Model, Value>) -> Value
  /// Sets a property.
  func setValue<Value>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value)
  /// Where the values are. Not meant to be used.
  var _place: _BackingPlace { get }
}

/// Where backing data have their values. Not meant to be used.
public enum _BackingPlace {
  /// The object of the model that the thread makes.
  case next
  /// An object of the graph.
  case object(_ModelObject)
  /// Memory.
  case free(_FreeValues)
  /// Nowhere: reads are noted.
  case probed
  /// Backing data of a program.
  case other
}

extension BackingData {
  /// A place that is not known. Not meant to be used.
  public var _place: _BackingPlace { .other }

  /// Nothing: no store of this module has any.
  public var metadata: Any { () }

  /// The value of a property.
  public func getValue<Value>(forKey keyPath: KeyPath<Model, Value>) -> Value {
    guard let model = SnapshotValues.model(of: self) as? Model else {
      programError("backing data of \(Model.self) has a model of another class")
    }
    return model[keyPath: keyPath]
  }

  /// The value of a property that a transformer stores.
  public func getTransformableValue<Value>(forKey keyPath: KeyPath<Model, Value>) -> Value {
    getValue(forKey: keyPath)
  }

  /// Sets a property.
  public func setValue<Value>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value) {
    guard let model = SnapshotValues.model(of: self) as? Model,
      let path = keyPath as? ReferenceWritableKeyPath<Model, Value>
    else { programError("\(keyPath) of \(Model.self) cannot be set") }
    model[keyPath: path] = newValue
  }

  /// Sets a property that a transformer stores.
  public func setTransformableValue<Value>(forKey keyPath: KeyPath<Model, Value>, to newValue: Value) {
    setValue(forKey: keyPath, to: newValue)
  }
}

/// The values of the object of a model that a context makes: no more than its type, so that to copy it counts no reference. Not meant to be used.
public struct _NextBackingData<Model: PersistentModel>: BackingData {
  init() {}

  /// The object of the model that the thread makes. Not meant to be used.
  public var _place: _BackingPlace { .next }

  /// - Precondition: Never called: a context makes the backing data of its objects.
  public init(for modelType: Model.Type) {
    programError("backing data of an object of a context is made by the context")
  }

  /// The identifier of the object; nil once the model is made. Setting it does nothing.
  public var persistentModelID: PersistentIdentifier? {
    get { ModelMaking.object?.persistentIdentifier }
    set {}
  }
}

/// The values of an object of the graph. Not meant to be used.
public struct _ObjectBackingData<Model: PersistentModel>: BackingData {
  let object: _ModelObject

  init(_ object: _ModelObject) { self.object = object }

  /// The object. Not meant to be used.
  public var _place: _BackingPlace { .object(object) }

  /// - Precondition: Never called: a context makes the backing data of its objects.
  public init(for modelType: Model.Type) {
    programError("backing data of an object of a context is made by the context")
  }

  /// The identifier of the object. Setting it does nothing.
  public var persistentModelID: PersistentIdentifier? {
    get { object.persistentIdentifier }
    set {}
  }
}

/// The values of a model without a context. Not meant to be used.
public struct _FreeBackingData<Model: PersistentModel>: BackingData {
  let values: _FreeValues

  init(_ values: _FreeValues) { self.values = values }
  init() { values = _FreeValues() }

  /// The values. Not meant to be used.
  public var _place: _BackingPlace { .free(values) }

  /// Empty values for a new model.
  public init(for modelType: Model.Type) { self.init() }

  /// The identifier of the model; nil until it is asked for.
  public var persistentModelID: PersistentIdentifier? {
    get { values.identifier }
    set { values.identifier = newValue }
  }
}

/// Values that are only noted when they are read. Not meant to be used.
public struct _ProbedBackingData<Model: PersistentModel>: BackingData {
  init() {}

  /// Nowhere. Not meant to be used.
  public var _place: _BackingPlace { .probed }

  /// Nothing to read.
  public init(for modelType: Model.Type) {}
  /// Nil. Setting it does nothing.
  public var persistentModelID: PersistentIdentifier? {
    get { nil }
    set {}
  }
}

extension PersistentModel {
  /// Empty values for a new model.
  public static func createBackingData<Model: PersistentModel>() -> some BackingData<Model> {
    _FreeBackingData<Model>()
  }

  /// The value of a property.
  ///
  /// - Precondition: The key path reads a property of the class alone.
  public func getValue<Value: Decodable>(forKey keyPath: KeyPath<Self, Value>) -> Value {
    self[keyPath: keyPath]
  }

  /// The model that a property leads to.
  public func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Self, Value>) -> Value {
    self[keyPath: keyPath]
  }

  /// The model that a property leads to; nil for none.
  public func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Self, Value?>) -> Value? {
    self[keyPath: keyPath]
  }

  /// The models that a property leads to.
  public func getValue<Value, Other>(forKey keyPath: KeyPath<Self, Value>) -> Value
  where Value: RelationshipCollection<Other>, Other: PersistentModel { self[keyPath: keyPath] }

  /// The models that a property leads to, or the value of a property of both kinds.
  public func getValue<Value, Other>(forKey keyPath: KeyPath<Self, Value>) -> Value
  where Value: RelationshipCollection<Other>, Value: Decodable, Other: PersistentModel {
    self[keyPath: keyPath]
  }

  /// The value of a property that a transformer stores.
  public func getTransformableValue<Value>(forKey keyPath: KeyPath<Self, Value>) -> Value {
    self[keyPath: keyPath]
  }

  /// Sets a property.
  ///
  /// - Precondition: The key path is one of a property that can be set.
  public func setValue<Value: Encodable>(forKey keyPath: KeyPath<Self, Value>, to newValue: Value) {
    assign(newValue, keyPath)
  }

  /// Sets the model that a property leads to.
  public func setValue<Value: PersistentModel>(forKey keyPath: KeyPath<Self, Value>, to newValue: Value) {
    assign(newValue, keyPath)
  }

  /// Sets the model that a property leads to, or nil.
  public func setValue<Value: PersistentModel>(forKey keyPath: KeyPath<Self, Value?>, to newValue: Value?) {
    assign(newValue, keyPath)
  }

  /// Sets the models that a property leads to.
  public func setValue<Value, Other>(forKey keyPath: KeyPath<Self, Value>, to newValue: Value)
  where Value: RelationshipCollection<Other>, Other: PersistentModel { assign(newValue, keyPath) }

  /// Sets the models that a property leads to, or a property of both kinds.
  public func setValue<Value, Other>(forKey keyPath: KeyPath<Self, Value>, to newValue: Value)
  where Value: RelationshipCollection<Other>, Value: Encodable, Other: PersistentModel {
    assign(newValue, keyPath)
  }

  /// Sets a property that a transformer stores.
  public func setTransformableValue<Value>(forKey keyPath: KeyPath<Self, Value>, to newValue: Value) {
    assign(newValue, keyPath)
  }

  private func assign<Value>(_ value: Value, _ keyPath: KeyPath<Self, Value>) {
    guard let writable = keyPath as? ReferenceWritableKeyPath<Self, Value> else {
      programError("\(keyPath) of \(Self.self) cannot be set")
    }
    self[keyPath: writable] = value
  }
}
