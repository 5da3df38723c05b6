import Foundation
import HeartwoodFiles

/// The transformers of this process, by name.
///
/// Those of declared classes are registered when their model is first used. A description that names a transformer needs it
/// to be registered before a store is opened.
public enum ValueTransformers {
  private static let known = Guarded<[String: RegisteredTransformer]>([:])

  /// Registers a transformer, in the place of an earlier one with the same name.
  ///
  /// - Parameters:
  ///   - transformer: The transformer.
  ///   - name: Its name, as the `valueTransformerName` of descriptions has it.
  public static func register(_ transformer: some ValueTransforming, as name: String) {
    let registered = RegisteredTransformer(transformer)
    known.withLock { $0[name] = registered }
  }

  /// Registers the transformer of a type.
  ///
  /// - Parameter type: The type.
  public static func register<Value: TransformableValue>(_ type: Value.Type) {
    register(Value.valueTransformer, as: Value.valueTransformerName)
  }

  /// The names of the registered transformers, in alphabetical order.
  public static var names: [String] { known.withLock { $0.keys.sorted() } }

  /// Registers functions as a transformer.
  package static func register(
    as name: String, value: @escaping @Sendable (Data) -> Any?, bytes: @escaping @Sendable (Any) -> Data?,
    areEqual: @escaping @Sendable (Data, Data) -> Bool
  ) {
    let registered = RegisteredTransformer(
      valueType: Any.self, value: value,
      stored: { any in
        bytes(any).map(Value.data)
          ?? .opaque(_OpaqueValue(any, refusal: "the transformer made no data of it"))
      }, areEqual: areEqual)
    known.withLock { $0[name] = registered }
  }

  static func transformer(named name: String) -> RegisteredTransformer? { known.withLock { $0[name] } }
}

/// A transformer whose type is not known at compile time.
struct RegisteredTransformer: Sendable {
  let valueType: Any.Type
  /// The value of bytes; nil if they are not those of a value.
  let value: @Sendable (Data) -> Any?
  /// The stored form of a value; nil if it is of another type.
  let stored: @Sendable (Any) -> Value?
  /// Whether two stored forms are those of equal values.
  let areEqual: @Sendable (Data, Data) -> Bool
}

extension RegisteredTransformer {
  init<Transformer: ValueTransforming>(_ transformer: Transformer) {
    valueType = Transformer.Transformed.self
    value = { try? transformer.value(of: $0) }
    stored = { any in
      guard let value = any as? Transformer.Transformed else { return nil }
      do {
        return .data(try transformer.bytes(of: value))
      } catch {
        return .opaque(_OpaqueValue(value, refusal: "\(error)"))
      }
    }
    areEqual = { left, right in
      guard let left = try? transformer.value(of: left), let right = try? transformer.value(of: right) else {
        return false
      }
      return left == right
    }
  }
}
