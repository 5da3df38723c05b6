import Foundation
import Heartwood

/// The name of a value transformer.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
  /// The text.
  public let rawValue: String
  /// A name.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// A name.
  public init(_ rawValue: String) { self.rawValue = rawValue }
  /// A name.
  public init(stringLiteral value: String) { self.init(value) }

  /// Coded objects of Foundation's classes.
  public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName(
    "NSSecureUnarchiveFromData")
}

/// Makes other values of values. Attributes whose type is transformable use one to store values as data.
open class ValueTransformer: NSObject {
  /// A transformer.
  public override init() {}

  private static let known = TransformerTable()

  /// Foundation's names of transformers of archives, and of their classes, which stand for them as well; models also have the names of its
  /// constants, which Core Data's messages show. What is written is a secure archive for each of them.
  private static let ofArchives = Set(
    ["NSSecureUnarchiveFromData", "NSKeyedUnarchiveFromData", "NSUnarchiveFromData"].flatMap {
      [$0, $0 + "Transformer", $0 + "TransformerName"]
    })

  /// Registers a transformer, also for transformable attributes with its name.
  open class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName)
  {
    known[name.rawValue] = transformer
    guard let transformer else { return }
    transformer.register(as: name.rawValue)
  }

  /// The transformer that was registered with a name; of Foundation's own, and of a class with this name, also one that was not.
  /// `ValueTransformer(forName:)` of Foundation is this method here.
  open class func valueTransformer(forName name: NSValueTransformerName) -> ValueTransformer? {
    if let registered = known[name.rawValue] { return registered }
    let made =
      ofArchives.contains(name.rawValue)
      ? NSSecureUnarchiveFromDataTransformer() : ProgramClasses.transformer(named: name.rawValue)
    if let made { setValueTransformer(made, forName: name) }
    return made
  }

  /// The names of all transformers.
  open class func valueTransformerNames() -> [NSValueTransformerName] {
    known.names.map { NSValueTransformerName($0) }
  }

  /// The class of what the transformer makes.
  open class func transformedValueClass() -> AnyClass { NSObject.self }
  /// Whether values can be made back.
  open class func allowsReverseTransformation() -> Bool { true }
  /// Makes a value.
  open func transformedValue(_ value: Any?) -> Any? { value }
  /// Makes a value back.
  open func reverseTransformedValue(_ value: Any?) -> Any? { transformedValue(value) }
}

/// Stores objects of Foundation's classes as secure archives.
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
  /// The classes of values, and of what they contain.
  open class var allowedTopLevelClasses: [AnyClass] {
    [
      NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self, NSData.self,
      NSURL.self, NSUUID.self, NSNull.self,
    ]
  }

  /// The value of an archive.
  open override func transformedValue(_ value: Any?) -> Any? {
    (value as? Data).flatMap { ArchivedDecimal.value(of: $0, Self.allowedTopLevelClasses) }
  }

  /// An archive of the value; nil if it, or what it contains, cannot be archived or is of a class that is not among
  /// `allowedTopLevelClasses`. A save with such a value fails.
  open override func reverseTransformedValue(_ value: Any?) -> Any? {
    value.flatMap { ArchivedDecimal.archive(of: $0, Self.allowedTopLevelClasses) }
  }
}

extension ValueTransformer {
  /// The archive of a value, or what the transformer makes of it.
  fileprivate func bytes(of value: Any) -> Data? {
    // These are read forward and written backward, as Core Data does.
    if self is NSSecureUnarchiveFromDataTransformer { return reverseTransformedValue(value) as? Data }
    return transformedValue(value) as? Data
  }

  fileprivate func value(of bytes: Data) -> Any? {
    if self is NSSecureUnarchiveFromDataTransformer { return transformedValue(bytes) }
    return reverseTransformedValue(bytes)
  }

  fileprivate static func areEqual(_ left: Any?, _ right: Any?) -> Bool {
    guard let left, let right else { return left == nil && right == nil }
    if let a = left as? NSObject, let b = right as? NSObject { return a.isEqual(b) }
    if let a = left as? AnyHashable, let b = right as? AnyHashable { return a == b }
    return false
  }

  fileprivate func register(as name: String) {
    let sent = SentBlock(self)
    ValueTransformers.register(
      as: name, value: { sent.block.value(of: $0) }, bytes: { sent.block.bytes(of: $0) },
      areEqual: { Self.areEqual(sent.block.value(of: $0), sent.block.value(of: $1)) })
  }
}

extension ManagedObjectModel {
  /// Gives transformable attributes without a transformer that of archives, and registers Foundation's where they are named.
  func completeTransformers() {
    for entity in entities {
      for case let attribute as NSAttributeDescription in entity.properties
      where attribute.type == .transformable {
        let given = attribute.valueTransformerName.flatMap { $0.isEmpty ? nil : NSValueTransformerName($0) }
        let name = given ?? .secureUnarchiveFromDataTransformerName
        if given == nil { attribute.valueTransformerName = name.rawValue }
        _ = ValueTransformer.valueTransformer(forName: name)
      }
    }
  }
}

private final class TransformerTable: @unchecked Sendable {
  private let lock = NSLock()
  private var transformers: [String: ValueTransformer] = [:]

  subscript(name: String) -> ValueTransformer? {
    get { lock.withLock { transformers[name] } }
    set { lock.withLock { transformers[name] = newValue } }
  }

  var names: [String] { lock.withLock { transformers.keys.sorted() } }
}

/// A protocol for an initialiser that returns a known object.
public protocol _NamedTransformer {}
extension ValueTransformer: _NamedTransformer {}

extension _NamedTransformer where Self: ValueTransformer {
  /// The transformer that was registered with a name.
  public init?(forName name: NSValueTransformerName) {
    guard let known = ValueTransformer.valueTransformer(forName: name) as? Self else { return nil }
    self = known
  }
}
