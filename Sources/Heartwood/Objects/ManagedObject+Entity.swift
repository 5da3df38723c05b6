import HeartwoodBytes

/// The entity of a class.
extension ManagedObject {
  /// The entity of this class, in the model that was frozen last.
  ///
  /// - Precondition: A frozen model has exactly one entity with this class.
  public class func entity() -> EntityDescription {
    guard let entity = FrozenModels.entities(of: self).last else {
      programError(
        "\(self) is no entity of a model that is in use: make a container or a coordinator first")
    }
    return entity
  }
}
