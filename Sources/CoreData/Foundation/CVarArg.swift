import Foundation

// Arguments of formats are often written `value as CVarArg`. Predicates take the values themselves; texts that Foundation formats have their
// descriptions, as its `%@` takes no other object than a text on Linux.

extension NSObject: @retroactive CVarArg, @retroactive _CVarArgObject {
  /// The description, for a text that Foundation formats.
  public var _cVarArgObject: any CVarArg { NSString(string: description) }
  /// Asked for of texts only.
  public var _cVarArgEncoding: [Int] { [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())] }
}
extension Date: @retroactive CVarArg, @retroactive _CVarArgObject {
  /// The description, for a text that Foundation formats.
  public var _cVarArgObject: any CVarArg { NSString(string: "\(self)") }
  /// Never asked for.
  public var _cVarArgEncoding: [Int] { [0] }
}
extension UUID: @retroactive CVarArg, @retroactive _CVarArgObject {
  /// The description, for a text that Foundation formats.
  public var _cVarArgObject: any CVarArg { NSString(string: "\(self)") }
  /// Never asked for.
  public var _cVarArgEncoding: [Int] { [0] }
}
extension URL: @retroactive CVarArg, @retroactive _CVarArgObject {
  /// The description, for a text that Foundation formats.
  public var _cVarArgObject: any CVarArg { NSString(string: "\(self)") }
  /// Never asked for.
  public var _cVarArgEncoding: [Int] { [0] }
}
extension Data: @retroactive CVarArg, @retroactive _CVarArgObject {
  /// The description, for a text that Foundation formats.
  public var _cVarArgObject: any CVarArg { NSString(string: "\(self)") }
  /// Never asked for.
  public var _cVarArgEncoding: [Int] { [0] }
}
extension Decimal: @retroactive CVarArg, @retroactive _CVarArgObject {
  /// The description, for a text that Foundation formats.
  public var _cVarArgObject: any CVarArg { NSString(string: "\(self)") }
  /// Never asked for.
  public var _cVarArgEncoding: [Int] { [0] }
}
extension Array: @retroactive CVarArg, @retroactive _CVarArgObject {
  /// The description, for a text that Foundation formats.
  public var _cVarArgObject: any CVarArg { NSString(string: "\(self)") }
  /// Never asked for.
  public var _cVarArgEncoding: [Int] { [0] }
}
extension Set: @retroactive CVarArg, @retroactive _CVarArgObject {
  /// The description, for a text that Foundation formats.
  public var _cVarArgObject: any CVarArg { NSString(string: "\(self)") }
  /// Never asked for.
  public var _cVarArgEncoding: [Int] { [0] }
}
extension Dictionary: @retroactive CVarArg, @retroactive _CVarArgObject {
  /// The description, for a text that Foundation formats.
  public var _cVarArgObject: any CVarArg { NSString(string: "\(self)") }
  /// Never asked for.
  public var _cVarArgEncoding: [Int] { [0] }
}
