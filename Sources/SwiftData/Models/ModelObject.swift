import Foundation
import Heartwood

/// The object of the graph that a model stores its values in. Not meant to be used.
public final class _ModelObject: ManagedObject, @unchecked Sendable {
  /// The model of the object, while the program has it.
  final weak var model: (any PersistentModel)?
  /// The model again, while it has changes that are not saved.
  final var keptModel: (any PersistentModel)?
  /// The identifier that the model was asked for before it was saved.
  final var temporaryIdentifier: PersistentIdentifier?
  /// The temporary identifier that the model was hashed by.
  final var hashedIdentifier: PersistentIdentifier?

  public override class var _declaresProperties: Bool { false }

  /// The context of the object, which its models keep. All contexts of such objects are of this class.
  final var home: ModelObjectContext? {
    managedObjectContext.map { unsafeDowncast($0, to: ModelObjectContext.self) }
  }

  /// Marks the model as one with changes.
  @inline(__always)
  final func keepModel() {
    if keptModel == nil { beginKeeping() }
  }

  private final func beginKeeping() {
    guard let model else { return }
    keptModel = model
    home?.noteKept(self)
  }

  /// The class of the model.
  final var modelClass: ModelClass? { home?.container.models.modelClass(of: entity) }
}
