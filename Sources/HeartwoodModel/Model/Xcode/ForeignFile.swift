import Foundation

/// Files of other programs that people take for stores and models.
package enum ForeignFile {
  /// The kind of a file, as a sentence: a SQLite database, a store or a model of Core Data. Nil for others.
  package static func kind(of data: Data) -> String? {
    func begins(_ text: String) -> Bool { data.starts(with: Array(text.utf8)) }
    func has(_ text: String) -> Bool { data.prefix(1 << 20).range(of: Data(text.utf8)) != nil }
    if begins("SQLite format 3\u{0}") {
      return has("Z_METADATA") || has("Z_PRIMARYKEY")
        ? "it is a store of Core Data, a SQLite database: heartwood import makes a store of it, and programs read it with AppleSQLiteStore of the product "
          + "HeartwoodAppleStores"
        : "it is a SQLite database, which is not read: export its tables as CSV, and import them"
    }
    if begins("bplist00") {
      if has("NSMappingModel") || has("NSEntityMapping") {
        return "it is a mapping model that Apple's tools have compiled"
      }
      if has("NSManagedObjectModel") || has("NSEntityDescription") {
        return "it is a model that Apple's tools have compiled"
      }
      if has("NSStoreModelVersionHashes") || has("NSStoreUUID") {
        return
          "it is a binary store of Core Data, which is not read: have a program with Core Data write its objects as JSON, and import them"
      }
      return "it is a property list in the binary form"
    }
    if begins("<"), has("<database>"), has("<databaseInfo>") {
      return has("XDDEVMAPPINGMODEL")
        ? "it is a mapping model of Xcode, and no model of data"
        : "it is a store of Core Data in XML, which is not read: have a program with Core Data write its objects as JSON, and import them"
    }
    return nil
  }

  /// The same of the beginning of a file; nil also if it cannot be read, and for pipes and devices, whose bytes can be read once only.
  package static func kind(at path: String) -> String? {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return nil }
    if isFolder.boolValue { return kind(ofFolder: path) }
    let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    let attributes = try? FileManager.default.attributesOfItem(atPath: target)
    guard attributes?[.type] as? FileAttributeType == .typeRegular,
      let file = FileHandle(forReadingAtPath: path)
    else { return nil }
    defer { try? file.close() }
    return (try? file.read(upToCount: 1 << 20)).flatMap(kind)
  }

  private static func kind(ofFolder path: String) -> String? {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    if names.contains(where: { $0.hasSuffix(".mom") || $0.hasSuffix(".omo") }) {
      return "it is a model that Apple's tools have compiled"
    }
    if names.contains(where: { $0.hasSuffix(".xcdatamodel") }) || path.hasSuffix(".xcdatamodel") {
      return "it is a model of Xcode, and no store"
    }
    return nil
  }
}
