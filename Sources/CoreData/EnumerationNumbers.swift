import Heartwood

// Enumerations by numbers of the type that Core Data's have.

extension AttributeType {
  /// The type with Core Data's number.
  public init?(rawValue: UInt) { self.init(rawValue: Int(bitPattern: rawValue)) }
}

extension DeleteRule {
  /// The rule with Core Data's number.
  public init?(rawValue: UInt) { self.init(rawValue: Int(bitPattern: rawValue)) }
}

extension FetchIndexElementDescription.CollationType {
  /// The kind with Core Data's number.
  public init?(rawValue: UInt) { self.init(rawValue: Int(bitPattern: rawValue)) }
}

extension EntityMapping.MappingType {
  /// The kind with Core Data's number.
  public init?(rawValue: UInt) { self.init(rawValue: Int(bitPattern: rawValue)) }
}

extension PersistentStoreRequestType {
  /// The kind with Core Data's number.
  public init?(rawValue: UInt) { self.init(rawValue: Int(bitPattern: rawValue)) }
}
