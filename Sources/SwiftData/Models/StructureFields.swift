@_spi(Reflection) import Swift

/// The stored fields of structures, with their places.
enum StructureFields {
  struct Field {
    let name: String
    let offset: Int
    let type: any Any.Type
  }

  /// The fields; nil for a type that is no structure.
  static func fields(of type: any Any.Type) -> [Field]? {
    guard kind(of: type) == structureKind else { return nil }
    var fields: [Field] = []
    _ = _forEachField(of: type, options: []) { name, offset, type, _ in
      fields.append(Field(name: String(cString: name), offset: offset, type: type))
      return true
    }
    return fields
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
