import Foundation
import HeartwoodArchives

extension AppleStoreFile {
  /// The values of the file's metadata, as stores of other kinds have them: those that programs have set, the version of the framework,
  /// the version identifiers of the model, and the hashes of its entities under a key of their own.
  var metadata: [String: any Sendable] {
    var values: [String: any Sendable] = [:]
    for (name, value) in properties where !name.hasPrefix("NSStore") && !name.hasPrefix("_NS") {
      values[name] = value.plain
    }
    let identifiers = properties["NSStoreModelVersionIdentifiers"]?.array ?? []
    values["NSStoreModelVersionIdentifiers"] = identifiers.compactMap(\.string)
    let hashes = versionHashes
    if !hashes.isEmpty { values[AppleSQLiteStore.appleVersionHashesKey] = hashes }
    return values
  }
}

extension PropertyList {
  /// The value as Foundation has it; nil for what no metadata can have.
  var plain: (any Sendable)? {
    switch self {
    case .bool(let value): value
    case .integer(let number): Int(exactly: number) ?? Double(number)
    case .unsignedInteger(let number): Int(exactly: number) ?? Double(number)
    case .real(let number): number
    case .string(let text): text
    case .data(let data): data
    case .date(let date): date
    case .array(let values): values.compactMap(\.plain)
    case .dictionary(let values): values.compactMapValues(\.plain)
    case .null, .set, .uid: nil
    }
  }
}
