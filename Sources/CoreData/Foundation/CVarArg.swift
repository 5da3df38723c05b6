import Foundation

// Arguments of formats are often written `value as CVarArg`. Predicates take the values themselves; texts that Foundation formats have their
// descriptions, as its `%@` takes no other object than a text on Linux.

extension NSObject: @retroactive CVarArg, @retroactive _CVarArgObject {
  /// The description, for a text that Foundation formats.
  public var _cVarArgObject: any CVarArg { NSString(string: description) }
  /// Asked for of texts only.
  public var _cVarArgEncoding: [Int] { [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())] }
}

/// A value that a text shows by its description.
public protocol _DescribedArgument: CVarArg, _CVarArgObject {}

extension _DescribedArgument {
  /// The description, for a text that Foundation formats.
  public var _cVarArgObject: any CVarArg { NSString(string: "\(self)") }
  /// Never asked for.
  public var _cVarArgEncoding: [Int] { [0] }
}

extension Date: @retroactive CVarArg, @retroactive _CVarArgObject, _DescribedArgument {}
extension UUID: @retroactive CVarArg, @retroactive _CVarArgObject, _DescribedArgument {}
extension URL: @retroactive CVarArg, @retroactive _CVarArgObject, _DescribedArgument {}
extension Data: @retroactive CVarArg, @retroactive _CVarArgObject, _DescribedArgument {}
extension Decimal: @retroactive CVarArg, @retroactive _CVarArgObject, _DescribedArgument {}
extension Array: @retroactive CVarArg, @retroactive _CVarArgObject, _DescribedArgument {}
extension Set: @retroactive CVarArg, @retroactive _CVarArgObject, _DescribedArgument {}
extension Dictionary: @retroactive CVarArg, @retroactive _CVarArgObject, _DescribedArgument {}
