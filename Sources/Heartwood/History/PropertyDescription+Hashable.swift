extension PropertyDescription: Hashable {
  /// The same description.
  public static func == (left: PropertyDescription, right: PropertyDescription) -> Bool { left === right }
  /// By identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
