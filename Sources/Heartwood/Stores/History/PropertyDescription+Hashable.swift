extension PropertyDescription: Hashable {
  /// Whether both are the same instance.
  public static func == (left: PropertyDescription, right: PropertyDescription) -> Bool { left === right }
  /// Hashes the instance's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
