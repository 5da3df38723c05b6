import HeartwoodBytes

/// Which entity a class stands for.
extension ManagedObject {
  /// The entity of this class, in the model that came into use last.
  ///
  /// - Precondition: a model that is in use has exactly one entity with this class.
  public class func entity() -> EntityDescription {
    guard let entity = FrozenModels.entities(of: self).last else {
      programError(
        "\(self) is no entity of a model that is in use: make a container or a coordinator first")
    }
    return entity
  }
}
