import Foundation
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
