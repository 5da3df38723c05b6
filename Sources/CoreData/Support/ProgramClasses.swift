import Foundation

/// The classes of the program by their bare names, such as `City` of the module `Model`: as models and `@objc(City)` name them.
///
/// The runtime lists the type records of all loaded images. This is no public interface: `_typeByName` is asked first where a name has a
/// module, and last for modules that are known.
enum ProgramClasses {
  /// The class with a name, with or without its module; nil if there is none. Of several, the first that is a managed object is taken.
  static func named(_ name: String) -> AnyClass? {
    if let known = ProgramClassTable.shared.found(name) { return known }
    let parts = name.split(separator: ".").map(String.init)
    guard let bare = parts.last else { return nil }
    let candidates = ProgramClassTable.shared.candidates(bare)
    // Several modules may have a class of one name.
    let qualified = parts.count > 1 ? candidates : []
    let given = ProgramClassTable.shared.candidates("_ClassNamed_\(bare)").first as? _NamedClass.Type
    let found: AnyClass? =
      qualified.first { String(reflecting: $0) == name } ?? given?.target
      ?? qualified.first { _nameOfClass($0) == name } ?? candidates.first { $0 is NSManagedObject.Type }
      ?? candidates.first ?? byMangledName(parts)
    if let found { ProgramClassTable.shared.remember(name, found) }
    return found
  }

  /// The name that `@objc(Name)` gives a class; nil if there is none.
  static func givenName(of type: AnyClass) -> String? {
    ProgramClassTable.shared.givenName(of: type)
  }

  /// A transformer of the class with a name, with or without its module.
  static func transformer(named name: String) -> ValueTransformer? {
    let bare = name.split(separator: ".").last ?? ""
    let classes = ProgramClassTable.shared.candidates("_TransformerNamed_\(bare)")
    return classes.lazy.compactMap { ($0 as? _NamedTransformerClass.Type)?.make() }.first
  }

  /// The classes of all modules whose names begin with a prefix.
  static func all(withPrefix prefix: String) -> [AnyClass] {
    ProgramClassTable.shared.names(withPrefix: prefix).flatMap(ProgramClassTable.shared.candidates)
  }

  private static func byMangledName(_ parts: [String]) -> AnyClass? {
    guard parts.count == 2 else { return nil }
    return _typeByName("\(parts[0].utf8.count)\(parts[0])\(parts[1].utf8.count)\(parts[1])C") as? AnyClass
  }
}

@_silgen_name("swift_enumerateAllMetadataSections")
private func enumerateAllMetadataSections(
  _ body: @convention(c) (UnsafeRawPointer, UnsafeMutableRawPointer?) -> Bool,
  _ context: UnsafeMutableRawPointer?)

/// The type records of the program.
final class ProgramClassTable: @unchecked Sendable {
  static let shared = ProgramClassTable()

  private let lock = NSLock()
  private var classes: [String: AnyClass] = [:]
  /// By bare name, the functions that give the metadata of classes.
  private var accessors: [String: [UnsafeRawPointer]] = [:]
  private var isRead = false

  func found(_ name: String) -> AnyClass? { lock.withLock { classes[name] } }
  func remember(_ name: String, _ type: AnyClass) { lock.withLock { classes[name] = type } }

  /// The names of `@objc(Name)` by the classes that have them.
  private var givenNames: [ObjectIdentifier: String]?

  func givenName(of type: AnyClass) -> String? {
    if let known = lock.withLock({ givenNames }) { return known[ObjectIdentifier(type)] }
    let prefix = "_ClassNamed_"
    let found = names(withPrefix: prefix).flatMap { name in
      candidates(name).compactMap { $0 as? _NamedClass.Type }.map {
        (ObjectIdentifier($0.target), String(name.dropFirst(prefix.count)))
      }
    }
    let names = Dictionary(found, uniquingKeysWith: { first, _ in first })
    lock.withLock { givenNames = names }
    return names[ObjectIdentifier(type)]
  }

  func candidates(_ bare: String) -> [AnyClass] {
    let functions = lock.withLock {
      readOnce()
      return accessors[bare] ?? []
    }
    return functions.compactMap(Self.metadata)
  }

  func names(withPrefix prefix: String) -> [String] {
    lock.withLock {
      readOnce()
      return accessors.keys.filter { $0.hasPrefix(prefix) }.sorted()
    }
  }

  private static func metadata(_ accessor: UnsafeRawPointer) -> AnyClass? {
    typealias Accessor = @convention(c) (Int) -> UnsafeRawPointer?
    guard let metadata = unsafeBitCast(accessor, to: Accessor.self)(0) else { return nil }
    return unsafeBitCast(metadata, to: Any.Type.self) as? AnyClass
  }

  private func readOnce() {
    guard !isRead else { return }
    isRead = true
    let table = Unmanaged.passUnretained(self).toOpaque()
    enumerateAllMetadataSections(
      { sections, context in
        guard let context else { return false }
        let table = Unmanaged<ProgramClassTable>.fromOpaque(context).takeUnretainedValue()
        table.read(sections)
        return true
      }, table)
  }

  /// Words 8 and 9 of the description of an image are start and length of its type records: 32-bit offsets from where they are.
  private func read(_ sections: UnsafeRawPointer) {
    let words = sections.assumingMemoryBound(to: UInt.self)
    guard let start = UnsafeRawPointer(bitPattern: words[8]), words[9] < 1 << 30 else { return }
    for place in stride(from: 0, to: Int(words[9]), by: 4) {
      let record = start + place
      let offset = record.loadUnaligned(as: Int32.self)
      // The lowest bits say how the descriptor is reached.
      guard offset & 3 <= 1 else { continue }
      var descriptor = record + Int(offset & ~3)
      if offset & 3 == 1 {
        guard let target = descriptor.loadUnaligned(as: UnsafeRawPointer?.self) else { continue }
        descriptor = target
      }
      note(descriptor)
    }
  }

  private func note(_ descriptor: UnsafeRawPointer) {
    let flags = descriptor.loadUnaligned(as: UInt32.self)
    // A class that is not generic.
    guard flags & 0x1F == 16, flags & 0x80 == 0 else { return }
    let name = relative(descriptor + 8).map { String(cString: $0.assumingMemoryBound(to: CChar.self)) }
    guard let name, let accessor = relative(descriptor + 12) else { return }
    accessors[name, default: []].append(accessor)
  }

  private func relative(_ place: UnsafeRawPointer) -> UnsafeRawPointer? {
    let offset = place.loadUnaligned(as: Int32.self)
    return offset == 0 ? nil : place + Int(offset)
  }
}
