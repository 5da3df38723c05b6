import Foundation
import Heartwood
import Observation

/// A class whose objects a container stores. `@Model` makes a class one.
///
/// A model belongs to the context that it was inserted into or fetched with, and is used where the context is. One that was made and not inserted
/// keeps its values in memory, and so does one whose deletion was saved: it reads as it was.
public protocol PersistentModel: AnyObject, Observable, Hashable, Identifiable, SendableMetatype {
  /// The topmost class of models that the class inherits from.
  associatedtype Root: PersistentModel = Self
  /// A model with the values of backing data.
  init(backingData: any BackingData<Root>)
  /// The properties that the class adds to its superclass, and what `#Unique` and `#Index` say in it.
  static var schemaMetadata: [Schema.PropertyMetadata] { get }
  /// Where the model has its values.
  var persistentBackingData: any BackingData<Root> { get set }

  // Made by `@Model`, and not meant to be used.
  // Borrowed: code that does not know the class would otherwise copy the whole storage to look at one field of it.
  @_borrowed var _$storage: _ModelStorage { get set }
  func _$moveInitialValues(to values: _FreeValues)
  /// The key paths of the class for the properties of its superclasses, in the order of these.
  static var _$inheritedKeyPaths: [AnyKeyPath] { get }
}

extension PersistentModel {
  /// None: most classes have no superclass.
  public static var _$inheritedKeyPaths: [AnyKeyPath] { [] }

  /// The identifier; temporary until the model is saved.
  public var persistentModelID: PersistentIdentifier { ModelIdentity.identifier(of: self) }

  /// The identifier.
  public var id: PersistentIdentifier { persistentModelID }

  /// The context that the model was inserted into or fetched with; nil for none, and after its deletion was saved.
  public var modelContext: ModelContext? { _$storage.object?.home?.handle }

  /// Whether a save would write the model.
  public var hasChanges: Bool {
    guard let object = _$storage.object else { return false }
    return object.hasChanges
  }

  /// Whether the next save deletes the model.
  public var isDeleted: Bool { _$storage.object?.isDeleted == true }

  /// Where the model has its values.
  public var persistentBackingData: any BackingData<Root> {
    get { ModelIdentity.backingData(of: self) }
    set { _$storage.adopt(newValue, by: self) }
  }

  /// Whether both are the same instance, or of the same row.
  public static func == (left: Self, right: Self) -> Bool {
    left === right || ModelIdentity.areEqual(left, right)
  }

  /// Hashes the identifier that the model has when it is hashed first, with or without a context.
  public func hash(into hasher: inout Hasher) { hasher.combine(ModelIdentity.hashed(of: self)) }
}

/// Identity of models.
enum ModelIdentity {
  static func identifier<Model: PersistentModel>(of model: Model) -> PersistentIdentifier {
    if let object = model._$storage.object { return model._$storage.identifier(of: object) }
    let values = ModelValues.free(of: model)
    if let known = values.identifier { return known }
    let made = PersistentIdentifier.makeTemporary(ModelClass.of(type(of: model)).name)
    values.identifier = made
    return made
  }

  static func backingData<Model: PersistentModel>(of model: Model) -> any BackingData<Model.Root> {
    if let object = model._$storage.object { return _ObjectBackingData<Model.Root>(object) }
    return _FreeBackingData<Model.Root>(ModelValues.free(of: model))
  }

  /// A model that was hashed before it was saved equals only itself: its hash is that of its temporary identifier.
  static func areEqual<Model: PersistentModel>(_ left: Model, _ right: Model) -> Bool {
    let (first, second) = (hashed(of: left), hashed(of: right))
    return !first.isTemporary && first == second
  }

  static func hashed<Model: PersistentModel>(of model: Model) -> PersistentIdentifier {
    guard let object = model._$storage.object else { return hashed(ofFree: model) }
    if let kept = object.hashedIdentifier { return kept }
    let identifier = object.persistentIdentifier
    if identifier.isTemporary { object.hashedIdentifier = identifier }
    return identifier
  }

  /// The identifier that a model without a context is hashed by, also once it has one.
  private static func hashed<Model: PersistentModel>(ofFree model: Model) -> PersistentIdentifier {
    let values = ModelValues.free(of: model)
    if let kept = values.hashedIdentifier { return kept }
    let identifier = identifier(of: model)
    if identifier.isTemporary { values.hashedIdentifier = identifier }
    return identifier
  }
}

extension _ModelStorage {
  /// The identifier of a model in a context.
  func identifier(of object: _ModelObject) -> PersistentIdentifier { object.persistentIdentifier }
}

extension _ModelObject {
  /// The identifier of the row, or the temporary one that the model has until it is saved.
  final var persistentIdentifier: PersistentIdentifier {
    let id = objectID
    guard id.isTemporaryID || home?.isUnnamed(id) == true else {
      return home?.identifier(of: id) ?? formerIdentifier ?? .row(id)
    }
    if let known = temporaryIdentifier, known.isTemporary { return known }
    let made = PersistentIdentifier.makeTemporary(entity.name ?? "")
    temporaryIdentifier = made
    home?.noteTemporary(made, self)
    return made
  }

  /// Notes what a custom store calls the object, which leaves its context and the store: its models keep the identifier.
  final func keepIdentifier() { temporaryIdentifier = persistentIdentifier }

  private final var formerIdentifier: PersistentIdentifier? {
    temporaryIdentifier.flatMap { $0.isTemporary ? nil : $0 }
  }
}

extension PersistentIdentifier {
  /// The identifier of a row of a store on the engine.
  static func row(_ id: ManagedObjectID) -> PersistentIdentifier { row(id, in: id.storeUUID?.uuidString) }

  static func row(_ id: ManagedObjectID, in store: String?) -> PersistentIdentifier {
    PersistentIdentifier(
      storeIdentifier: store, entityName: id.entity.name ?? "", key: .number(id.keyInItsStore))
  }
}
