import Foundation

/// Makes models of objects. Each thread has its own one.
final class ModelMaking {
  /// Whether the thread makes a model with the values of an object.
  @exclusivity(unchecked) private var isMakingStored = false
  /// The object of the model that is made, and what keeps its context. The caller of `make` has both, so that they are not counted.
  @exclusivity(unchecked) private var object: Unmanaged<_ModelObject>?
  @exclusivity(unchecked) private var home: Unmanaged<AnyObject>?

  private init() {}

  /// Makes the model of an object. The values of its declarations are evaluated, as in every initialiser, and dropped.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - home: The home that keeps the context of the object.
  ///   - initialise: Makes the model with `_NextBackingData`.
  @inline(__always)
  func make<Model>(_ object: _ModelObject, in home: AnyObject, _ initialise: () -> Model) -> Model {
    // The value of a declaration may be one that is fetched.
    let outer = (isMakingStored, self.object, self.home)
    isMakingStored = true
    self.object = .passUnretained(object)
    self.home = .passUnretained(home)
    defer { (isMakingStored, self.object, self.home) = outer }
    return initialise()
  }

  /// The object of the model that the thread makes; nil if it makes none.
  static var object: _ModelObject? { current.object?.takeUnretainedValue() }

  /// Makes the object of the model that the thread makes the place of its values.
  static func enterObject<Model: PersistentModel>(_ storage: inout _ModelStorage, of model: Model) {
    let (object, home) = reference._withUnsafeGuaranteedRef { ($0.object, $0.home) }
    guard let object, let home else { return storage.leave(with: _FreeValues()) }
    object._withUnsafeGuaranteedRef { $0.setModel(model) }
    storage.enter(object.takeUnretainedValue(), home.takeUnretainedValue())
  }

  // MARK: Threads

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let result = pthread_key_create(&key) { address in
      address.map { Unmanaged<ModelMaking>.fromOpaque($0).release() }
    }
    precondition(result == 0, "the process has no more keys for values of threads")
    return key
  }()

  /// The one of the thread.
  static var current: ModelMaking { reference.takeUnretainedValue() }

  /// The one of the thread, which keeps it until it ends.
  private static var reference: Unmanaged<ModelMaking> {
    if let address = pthread_getspecific(key) { return .fromOpaque(address) }
    let made = Unmanaged.passRetained(ModelMaking())
    pthread_setspecific(key, made.toOpaque())
    return made
  }

  /// Whether the thread makes a model with the values of an object.
  static var isMakingStored: Bool {
    guard let address = pthread_getspecific(key) else { return false }
    return Unmanaged<ModelMaking>.fromOpaque(address)._withUnsafeGuaranteedRef { $0.isMakingStored }
  }
}
