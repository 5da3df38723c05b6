import Foundation
import Heartwood

/// The identifier of an object: a value that any thread may use. Unlike Core Data's it is a structure.
public typealias NSManagedObjectID = ManagedObjectID

extension ManagedObjectID {
  /// The identifier of no object, as tests need one: temporary, and unlike every other.
  public init() { self = .makeTemporary(Self.entityOfNone) }
  private static let entityOfNone = EntityDescription()

  /// Whether it is an identifier of the same object.
  public func isEqual(_ object: Any?) -> Bool { object as? ManagedObjectID == self }
  /// A hash of the identifier.
  public var hash: Int { hashValue }
  /// Whether the type is that of identifiers, or `NSObject`, from which it inherits on Apple's systems.
  public func isKind(of aClass: Any.Type) -> Bool { isMember(of: aClass) || aClass == NSObject.self }
  /// Whether the type is that of identifiers.
  public func isMember(of aClass: Any.Type) -> Bool { aClass == ManagedObjectID.self }
  /// The identifier itself, which does not change.
  public func copy() -> Any { self }
}

extension ManagedObjectID: CVarArg, _CVarArgObject {
  /// The description, for a text that Foundation formats.
  public var _cVarArgObject: any CVarArg { NSString(string: description) }
  /// Needed for arguments of formats; never asked for.
  public var _cVarArgEncoding: [Int] { [0] }
}
