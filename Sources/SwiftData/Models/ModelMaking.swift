import Foundation
import Heartwood
import HeartwoodFiles

/// Makes models of objects.
enum ModelMaking {
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let result = pthread_key_create(&key, nil)
    precondition(result == 0, "the process has no more keys for values of threads")
    return key
  }()

  /// A model with the values of an object. The values of its declarations are evaluated, as in every initialiser, and dropped.
  @inline(__always)
  static func stored<Model: PersistentModel>(_ object: _ModelObject) -> Model {
    withStored { Model(backingData: _ObjectBackingData<Model.Root>(object)) }
  }

  /// Models of objects, in their order: the type of their backing data is looked up once for all.
  ///
  /// - Parameter known: The model that an object has already; nil for one that has none and is exactly of the class.
  static func stored<Model: PersistentModel>(
    _ objects: [ManagedObject], known: (_ModelObject) -> KnownModel<Model>
  ) -> [Model] {
    guard let first = objects.first else { return [] }
    // All objects of such a context are of this class.
    var backing: any BackingData<Model.Root> = _ObjectBackingData<Model.Root>(
      unsafeDowncast(first, to: _ModelObject.self))
    var models: [Model] = []
    models.reserveCapacity(objects.count)
    withStored {
      for object in objects {
        let object = unsafeDowncast(object, to: _ModelObject.self)
        switch known(object) {
        case .model(let model): models.append(model)
        case .none: continue
        case .new:
          backing._take(object)
          models.append(Model(backingData: backing))
        }
      }
    }
    return models
  }

  /// What an object has of a model.
  enum KnownModel<Model> {
    case model(Model)
    /// Its model is to be made.
    case new
    /// None of the class.
    case none
  }

  /// Runs what makes such models: around a loop, which takes less time than around each of them.
  @inline(__always)
  static func withStored<Result>(_ body: () throws -> Result) rethrows -> Result {
    if isMakingStored { return try body() }
    // Any address that is not nil.
    pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1))
    defer { pthread_setspecific(key, nil) }
    return try body()
  }

  /// Whether the thread makes such a model.
  static var isMakingStored: Bool { pthread_getspecific(key) != nil }
}
