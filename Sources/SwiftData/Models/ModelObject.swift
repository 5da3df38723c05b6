import Foundation
import Heartwood

/// The object of the graph that a model stores its values in. Not meant to be used.
public final class _ModelObject: ManagedObject, @unchecked Sendable {
  /// The model of the object, while the program has it.
  ///
  /// `weak` moves the reference counts of its target to a side table, and every retain of it takes the slow path from then on. An unowned reference
  /// leaves them in place and keeps only the memory.
  final var model: (any PersistentModel)? {
    get {
      // The model may be released by another thread at this moment.
      guard let modelAddress, let retained = runtime?.tryRetain(modelAddress) else {
        return rare?.joined.lazy.compactMap(\.model).first
      }
      defer { Unmanaged<AnyObject>.fromOpaque(retained).release() }
      return uncountedModel
    }
    set { setModel(newValue) }
  }

  /// Sets the model. A function, as a setter would count the model again.
  final func setModel(_ model: (any PersistentModel)?) {
    guard let runtime else {
      joined = model.map { [RareFields.JoinedModel(model: $0)] } ?? []
      return
    }
    if let modelAddress { runtime.releaseMemory(modelAddress) }
    uncountedModel = model
    modelAddress = model.map { UnsafeRawPointer(Unmanaged<AnyObject>.passUnretained($0).toOpaque()) }
    if let modelAddress { _ = runtime.retainMemory(modelAddress) }
  }

  deinit {
    kept?.release()
    if let modelAddress { runtime?.releaseMemory(modelAddress) }
  }

  /// The model as one of a class, while the program has it; nil if it is none.
  final func model<Model: PersistentModel>(as type: Model.Type) -> Model? {
    guard let anyModel else { return nil }
    return ModelRelations.cast(anyModel)
  }

  /// The model as an object, while the program has it.
  @usableFromInline
  final var anyModel: AnyObject? {
    if let modelAddress, let retained = runtime?.tryRetain(modelAddress) {
      return Unmanaged<AnyObject>.fromOpaque(retained).takeRetainedValue()
    }
    return rare?.joined.lazy.compactMap(\.model).first
  }

  /// Its memory is kept by hand: the compiler would count this object again to destroy several references.
  @exclusivity(unchecked) private final unowned(unsafe) var uncountedModel: (any PersistentModel)?
  @exclusivity(unchecked) private final var modelAddress: UnsafeRawPointer?

  /// The model again, while it has changes that are not saved.
  final var keptModel: AnyObject? {
    get { kept?.takeUnretainedValue() }
    set {
      let former = kept
      kept = newValue.map { .passRetained($0) }
      former?.release()
    }
  }
  @exclusivity(unchecked) private final var kept: Unmanaged<AnyObject>?

  /// The fields that few objects have. A context has as many objects as there are models, so each of them is small.
  private final class RareFields {
    struct JoinedModel { weak var model: (any PersistentModel)? }
    var joined: [JoinedModel] = []
    var temporaryIdentifier: PersistentIdentifier?
    var hashedIdentifier: PersistentIdentifier?
  }

  @exclusivity(unchecked) private final var rare: RareFields?

  private final func makeRare() -> RareFields {
    if let rare { return rare }
    let made = RareFields()
    rare = made
    return made
  }

  /// Further models of the object: they were inserted with the unique values that it had.
  private final var joined: [RareFields.JoinedModel] {
    get { rare?.joined ?? [] }
    set { if rare != nil || !newValue.isEmpty { makeRare().joined = newValue } }
  }

  /// The identifier that the model was asked for before it was saved.
  final var temporaryIdentifier: PersistentIdentifier? {
    get { rare?.temporaryIdentifier }
    set { makeRare().temporaryIdentifier = newValue }
  }

  /// The temporary identifier that the model was hashed by.
  final var hashedIdentifier: PersistentIdentifier? {
    get { rare?.hashedIdentifier }
    set { makeRare().hashedIdentifier = newValue }
  }

  /// The models of the object, while the program has them.
  final var models: [any PersistentModel] {
    let first = model
    return [first].compactMap(\.self) + joined.compactMap(\.model).filter { $0 !== first }
  }

  /// Adds a model to that of the object.
  final func join(_ model: any PersistentModel) { joined.append(RareFields.JoinedModel(model: model)) }

  /// Has no models any more.
  final func releaseModels() {
    home?.forgetLastReads()
    model = nil
    keptModel = nil
    joined = []
  }

  /// Tells observers of a read of a property.
  @usableFromInline
  final func noteRead(_ key: String, _ name: UInt64) { noteOwnAccess(key, name) }

  public override class var _declaresProperties: Bool { false }

  /// The context of the object, which its models keep. All contexts of such objects are of this class.
  final var home: ModelObjectContext? {
    managedObjectContext.map { unsafeDowncast($0, to: ModelObjectContext.self) }
  }

  /// Marks the model as one with changes.
  @inline(__always)
  final func keepModel() {
    if let home { keepModel(in: home) }
  }

  /// As `keepModel()`.
  ///
  /// - Parameter home: The context of the object.
  @inline(__always)
  final func keepModel(in home: ModelObjectContext) {
    if keptModel == nil, let model { keep(model, in: home) }
    home.noteChange()
  }

  /// Keeps the model of the object, which has none that is kept.
  final func keep(_ model: AnyObject, in home: ModelObjectContext) {
    keptModel = model
    home.noteKept(self)
  }

  /// The class of the model.
  final var modelClass: ModelClass? { home?.container.models.modelClass(of: entity) }
}

/// The runtime's functions below `weak` and `unowned`. Nil in a program that has the runtime in itself: references to models are weak there.
private let runtime = ReferenceRuntime()

private struct ReferenceRuntime {
  typealias Function = @convention(c) (UnsafeRawPointer) -> UnsafeRawPointer?

  /// Retains an object whose memory is there, unless its last reference was released.
  let tryRetain: Function
  /// Keeps the memory of an object.
  let retainMemory: Function
  let releaseMemory: @convention(c) (UnsafeRawPointer) -> Void

  init?() {
    guard let tryRetain = dlsym(nil, "swift_tryRetain"), let retain = dlsym(nil, "swift_unownedRetain"),
      let release = dlsym(nil, "swift_unownedRelease")
    else { return nil }
    self.tryRetain = unsafeBitCast(tryRetain, to: Function.self)
    retainMemory = unsafeBitCast(retain, to: Function.self)
    releaseMemory = unsafeBitCast(release, to: (@convention(c) (UnsafeRawPointer) -> Void).self)
  }
}
