import SwiftData

// Declarations of Apple's framework, each used in its exact shape: type, optionality, whether it can be set, and what it conforms to. The functions
// are not called: that they compile is the test.

/// A type that threads may share.
func sent<Value: Sendable>(_ type: Value.Type) {}
/// A type with equality and hash.
func hashed<Value: Hashable>(_ type: Value.Type) {}
/// A type that can be encoded and decoded.
func coded<Value: Codable>(_ type: Value.Type) {}
/// A class.
func object<Value: AnyObject>(_ type: Value.Type) {}
/// A type that describes itself.
func described<Value: CustomDebugStringConvertible>(_ type: Value.Type) {}
/// A property that can be read.
func read<Root, Value>(_ path: KeyPath<Root, Value>, _ type: Value.Type) {}
/// A property that can be set.
func write<Root, Value>(_ path: WritableKeyPath<Root, Value>, _ type: Value.Type) {}
