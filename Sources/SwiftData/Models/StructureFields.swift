@_spi(Reflection) import Swift

/// The stored fields of structures, with their places.
enum StructureFields {
  struct Field {
    /// The name, after those of the structures that the field is in.
    let path: [String]
    let offset: Int
    let type: any Any.Type

    var name: String { path[path.count - 1] }
  }

  /// The fields; nil for a type that is no structure.
  static func fields(of type: any Any.Type) -> [Field]? {
    guard kind(of: type) == structureKind else { return nil }
    var fields: [Field] = []
    _ = _forEachField(of: type, options: []) { name, offset, type, _ in
      fields.append(Field(path: [String(cString: name)], offset: offset, type: type))
      return true
    }
    return fields
  }

  /// The fields of a structure, and those of the structures in it that are stored by their parts.
  static func allFields(of type: any Any.Type) -> [Field] {
    (fields(of: type) ?? []).flatMap { field in
      let inner = (field.type as? any OptionalType.Type)?.wrappedType ?? field.type
      guard ValueCodings.coding(of: inner)?.elements != nil else { return [field] }
      // An optional has the wrapped value at its beginning.
      let parts = allFields(of: inner).map {
        Field(path: field.path + $0.path, offset: field.offset + $0.offset, type: $0.type)
      }
      return [field] + parts
    }
  }

  /// The value of a field of a structure, which may be wrapped in an optional; nil if that is none.
  static func value(of field: Field, in structure: Any) -> Any? {
    if let optional = structure as? any OptionalType {
      return optional.wrapped.flatMap { value(of: field, in: $0) }
    }
    func open<Structure>(_ structure: Structure) -> Any? {
      func read<Value>(_ type: Value.Type) -> Any? {
        withUnsafeBytes(of: structure) {
          $0.baseAddress?.advanced(by: field.offset).assumingMemoryBound(to: Value.self).pointee
        }
      }
      return _openExistential(field.type, do: read)
    }
    return _openExistential(structure, do: open)
  }

  /// The kind of a type's metadata, as the ABI numbers it.
  private static func kind(of type: any Any.Type) -> Int {
    unsafeBitCast(type, to: UnsafePointer<Int>.self).pointee
  }
  private static let structureKind = 0x200

  /// The name of the field that a key path of one step reads; nil for another key path.
  static func name(of keyPath: AnyKeyPath, in type: any Any.Type) -> String? {
    func open<Root>(_ type: Root.Type) -> Int? {
      (keyPath as? PartialKeyPath<Root>).flatMap { MemoryLayout<Root>.offset(of: $0) }
    }
    guard let offset = _openExistential(type, do: open) else { return nil }
    let valueType = Swift.type(of: keyPath).valueType
    return fields(of: type)?.first { $0.offset == offset && $0.type == valueType }?.name
  }
}
