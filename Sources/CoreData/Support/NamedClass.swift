/// A class that has another name in models than in Swift. The plugin that translates sources makes a subclass for each `@objc(Name)` of this kind.
open class _NamedClass {
  /// The class.
  open class var target: AnyClass { _NamedClass.self }
}
