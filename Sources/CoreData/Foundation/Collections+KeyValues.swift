import Foundation

// Key-value coding of collections, which Foundation has on Apple's systems only.

extension NSArray {
  /// The values of a property of all elements.
  public func value(forKey key: String) -> Any { KeyValues.value(of: self, atPath: key) ?? NSArray() }
  /// The values at the end of a path, or what an operator such as `@sum.price` makes of them.
  public func value(forKeyPath keyPath: String) -> Any? { KeyValues.value(of: self, atPath: keyPath) }
  /// Sets a property of all elements.
  public func setValue(_ value: Any?, forKey key: String) { KeyValues.set(value, of: self, atPath: key) }
}

extension NSSet {
  /// The values of a property of all elements.
  public func value(forKey key: String) -> Any { KeyValues.value(of: self, atPath: key) ?? NSSet() }
  /// The values at the end of a path, or what an operator such as `@sum.price` makes of them.
  public func value(forKeyPath keyPath: String) -> Any? { KeyValues.value(of: self, atPath: keyPath) }
  /// Sets a property of all elements.
  public func setValue(_ value: Any?, forKey key: String) { KeyValues.set(value, of: self, atPath: key) }
}

extension NSOrderedSet {
  /// The values of a property of all elements.
  public func value(forKey key: String) -> Any { KeyValues.value(of: self, atPath: key) ?? NSOrderedSet() }
  /// The values at the end of a path, or what an operator such as `@sum.price` makes of them.
  public func value(forKeyPath keyPath: String) -> Any? { KeyValues.value(of: self, atPath: keyPath) }
  /// Sets a property of all elements.
  public func setValue(_ value: Any?, forKey key: String) { KeyValues.set(value, of: self, atPath: key) }
}

extension NSDictionary {
  /// The value at the end of a path.
  public func value(forKeyPath keyPath: String) -> Any? { KeyValues.value(of: self, atPath: keyPath) }
}
