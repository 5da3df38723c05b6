/// A class of value transformers, which attributes of models find by its name. The plugin that translates sources makes a subclass for each
/// class of transformers that is made without arguments.
open class _NamedTransformerClass {
  /// A transformer.
  open class func make() -> ValueTransformer? { nil }
}

/// A class that has another name in models than in Swift. The plugin that translates sources makes a subclass for each `@objc(Name)` of this kind.
open class _NamedClass {
  /// The class.
  open class var target: AnyClass { _NamedClass.self }
}
