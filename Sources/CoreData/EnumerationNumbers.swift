import Heartwood

// Enumerations by numbers of the type that Core Data's have.

extension AttributeType {
  /// Core Data's number.
  public var rawValue: UInt { number(self) }
  /// The type with Core Data's number.
  public init?(rawValue: UInt) { self.init(rawValue: Int(bitPattern: rawValue)) }
}

extension DeleteRule {
  /// Core Data's number.
  public var rawValue: UInt { number(self) }
  /// The rule with Core Data's number.
  public init?(rawValue: UInt) { self.init(rawValue: Int(bitPattern: rawValue)) }
}

extension FetchIndexElementDescription.CollationType {
  /// Core Data's number.
  public var rawValue: UInt { number(self) }
  /// The kind with Core Data's number.
  public init?(rawValue: UInt) { self.init(rawValue: Int(bitPattern: rawValue)) }
}

extension EntityMapping.MappingType {
  /// Core Data's number.
  public var rawValue: UInt { number(self) }
  /// The kind with Core Data's number.
  public init?(rawValue: UInt) { self.init(rawValue: Int(bitPattern: rawValue)) }
}

extension PersistentStoreRequestType {
  /// Core Data's number.
  public var rawValue: UInt { number(self) }
  /// The kind with Core Data's number.
  public init?(rawValue: UInt) { self.init(rawValue: Int(bitPattern: rawValue)) }
}

private func number<Enumeration: RawRepresentable<Int>>(_ value: Enumeration) -> UInt {
  UInt(bitPattern: value.rawValue)
}
