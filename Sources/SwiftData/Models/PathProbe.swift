import Heartwood
import HeartwoodBytes

/// Finds the properties that a key path reads, by evaluating it on a model that notes what is read.
final class PathProbe {
  private(set) var names: [String] = []
  /// The model that was returned last, from which the next step must read.
  private var last: AnyObject?
  private var isBroken = false

  /// The names; nil if the key path reads anything but properties, each of the object that the one before leads to.
  static func names(of keyPath: AnyKeyPath, from model: ModelClass) -> [String]? {
    let probe = PathProbe()
    guard let result = probe.evaluate(keyPath, on: model) else { return nil }
    guard !probe.isBroken, !probe.names.isEmpty else { return nil }
    // The last step may be inside of a composite value.
    let valueType = keyPath.readType
    let wrapped = (valueType as? any OptionalType.Type)?.wrappedType
    if valueType == probe.lastType || wrapped == probe.lastType { return probe.names }
    guard let structure = probe.lastType,
      let field = field(
        of: valueType, in: structure, { PathProbe(altering: $0).evaluate(keyPath, on: model) }, result)
    else { return nil }
    return probe.names + [field]
  }

  private init(altering field: StructureFields.Field? = nil) { altered = field }

  private var lastType: (any Any.Type)?
  /// The field of composite values that has another value than usual.
  private let altered: StructureFields.Field?

  private func evaluate(_ keyPath: AnyKeyPath, on model: ModelClass) -> Any? {
    let root = makeModel(model.type)
    last = root
    return (root as Any)[keyPath: keyPath]
  }

  private func makeModel(_ type: any PersistentModel.Type) -> any PersistentModel {
    func open<Model: PersistentModel>(_ type: Model.Type) -> any PersistentModel {
      let model = Model(backingData: _ProbedBackingData<Model.Root>())
      model._$storage.probe = self
      return model
    }
    return open(type)
  }

  /// The field of a structure that a key path reads last: the one on which its value depends.
  private static func field(
    of valueType: any Any.Type, in type: any Any.Type, _ altering: (StructureFields.Field) -> Any?,
    _ usual: Any
  ) -> String? {
    let type = (type as? any OptionalType.Type)?.wrappedType ?? type
    guard let fields = StructureFields.fields(of: type) else { return nil }
    let wanted = (valueType as? any OptionalType.Type)?.wrappedType ?? valueType
    let fitting = fields.filter {
      $0.type == valueType || (($0.type as? any OptionalType.Type)?.wrappedType ?? $0.type) == wanted
    }
    if fitting.count == 1 { return fitting[0].name }
    return fitting.first { field in altering(field).map { "\($0)" != "\(usual)" } == true }?.name
  }

  /// Notes that a property of a model is read, and answers with a value that means nothing.
  func read<Value>(_ model: AnyObject, _ hash: UInt64) -> Value {
    if model !== last { isBroken = true }
    guard let type = Swift.type(of: model) as? any PersistentModel.Type,
      let property = ModelClass.of(type).property(hash)
    else { programError("a property that its class does not have was read") }
    names.append(property.name)
    lastType = property.valueType
    let answer: Any?
    switch property.kind {
    case .attribute(let coding):
      last = nil
      let placeholder = coding.placeholder()
      answer =
        altered.flatMap { field in placeholder.map { PlaceholderValue.altered($0, field) } } ?? placeholder
    case .toOne(let destination, _):
      let made = makeModel(destination)
      last = made
      answer = made
    case .toMany:
      last = nil
      answer = (Value.self as? any RelationshipCollection.Type).map { empty($0) }
    case .unknown: answer = nil
    }
    if let value = answer as? Value { return value }
    if let value = property.defaultValue as? Value { return value }
    programError(
      "\(property.name) of \(type) is of a type, \(Value.self), of which no value can be made to find out what a key path reads"
    )
  }

  private func empty<Collection: RelationshipCollection>(_ type: Collection.Type) -> Any {
    Collection._collection(of: [])
  }
}
