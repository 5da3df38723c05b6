import Foundation

// Arguments of formats are often written `value as CVarArg`. What they encode is never asked for.

extension NSObject: @retroactive CVarArg {
  /// Never asked for.
  public var _cVarArgEncoding: [Int] { [0] }
}
extension Date: @retroactive CVarArg {
  /// Never asked for.
  public var _cVarArgEncoding: [Int] { [0] }
}
extension UUID: @retroactive CVarArg {
  /// Never asked for.
  public var _cVarArgEncoding: [Int] { [0] }
}
extension URL: @retroactive CVarArg {
  /// Never asked for.
  public var _cVarArgEncoding: [Int] { [0] }
}
extension Data: @retroactive CVarArg {
  /// Never asked for.
  public var _cVarArgEncoding: [Int] { [0] }
}
extension Decimal: @retroactive CVarArg {
  /// Never asked for.
  public var _cVarArgEncoding: [Int] { [0] }
}
extension Array: @retroactive CVarArg {
  /// Never asked for.
  public var _cVarArgEncoding: [Int] { [0] }
}
extension Set: @retroactive CVarArg {
  /// Never asked for.
  public var _cVarArgEncoding: [Int] { [0] }
}
extension Dictionary: @retroactive CVarArg {
  /// Never asked for.
  public var _cVarArgEncoding: [Int] { [0] }
}
