import Foundation

/// A `.xcdatamodeld` folder: the versions of a model, each a `.xcdatamodel` folder, of which one is current.
struct XcodeModelBundle {
  struct Version {
    let name: String
    let url: URL
  }

  static let currentVersionFile = ".xccurrentversion"
  static let currentVersionKey = "_XCCurrentVersionName"

  /// Sorted by name.
  let versions: [Version]
  let current: Version

  /// - Throws: `.coreData` if the folder cannot be read, has no versions, or it is not known which one is current.
  init(_ url: URL) throws(HeartwoodError) {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: url.path)
    } catch {
      throw HeartwoodError(.coreData, "the model \(url.path) cannot be read: \(error)", underlying: error)
    }
    versions = names.filter { $0.hasSuffix(".xcdatamodel") }.map { name in
      Version(name: String(name.dropLast(".xcdatamodel".count)), url: url.appending(path: name))
    }.sorted { $0.name < $1.name }
    let named = Self.currentName(in: url)
    guard let found = versions.first(where: { $0.name == named }) ?? (versions.count == 1 ? versions[0] : nil)
    else {
      let have =
        versions.isEmpty ? "no version" : "the versions \(versions.map(\.name).joined(separator: ", "))"
      throw HeartwoodError(
        .coreData,
        "the model \(url.path) has \(have), and \(Self.currentVersionFile) names \(named ?? "none") as the current one: "
          + "name the folder of a version")
    }
    current = found
  }

  private static func currentName(in url: URL) -> String? {
    guard let data = try? Data(contentsOf: url.appending(path: currentVersionFile)),
      let list = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any],
      let name = list[currentVersionKey] as? String
    else { return nil }
    return name.hasSuffix(".xcdatamodel") ? String(name.dropLast(".xcdatamodel".count)) : name
  }
}

/// A model in a file of any kind that is known.
struct ModelFile {
  let document: ModelDocument
  /// What the file has and the document does not, or has otherwise.
  let notes: [String]
  /// What no store could mean: the document is not to be used if there is something.
  let mistakes: [String]
  /// Whether the file is of Xcode's format.
  let isXcodeModel: Bool

  /// - Parameter url: A `.xcdatamodeld` or `.xcdatamodel` folder, the file `contents` of one, or what `encodedDocument()` returns.
  /// - Throws: `.coreData` if it is no model.
  init(_ url: URL) throws(HeartwoodError) {
    switch url.pathExtension {
    case "xcdatamodeld": try self.init(folder: try XcodeModelBundle(url).current.url)
    case "xcdatamodel": try self.init(folder: url)
    case "mom", "momd", "omo":
      throw HeartwoodError(
        .coreData,
        "\(url.path) is a model that Apple's tools have compiled, which is not read: take the .xcdatamodeld of which it was made"
      )
    default: try self.init(file: url)
    }
  }

  private init(folder url: URL) throws(HeartwoodError) {
    let contents = url.appending(path: "contents")
    if !FileManager.default.fileExists(atPath: contents.path),
      FileManager.default.fileExists(atPath: url.appending(path: "elements").path)
    {
      throw HeartwoodError(
        .coreData,
        "the model \(url.path) is in the format of Xcode 3, an archive of its classes, which is not read: open it in a later Xcode "
          + "and save it")
    }
    try self.init(file: contents)
  }

  private init(file url: URL) throws(HeartwoodError) {
    let data: Data
    do {
      data = try Data(contentsOf: url)
    } catch {
      throw HeartwoodError(.coreData, "the file \(url.path) is no model: \(error)", underlying: error)
    }
    if let kind = ForeignFile.kind(of: data) {
      throw HeartwoodError(.coreData, "the file \(url.path) is no model: \(kind)")
    }
    let space: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF]
    isXcodeModel = data.first { !space.contains($0) } == UInt8(ascii: "<")
    guard isXcodeModel else {
      do {
        document = try JSONDecoder().decode(ModelDocument.self, from: data)
        (notes, mistakes) = ([], [])
        return
      } catch {
        let reason = (error as? HeartwoodError)?.message ?? "\(error)"
        throw HeartwoodError(.coreData, "the file \(url.path) is no model: \(reason)", underlying: error)
      }
    }
    let root = try MarkupElement(document: data, file: url.path)
    var reader = XcodeModelReader(file: url.path)
    document = try reader.document(of: root)
    (notes, mistakes) = (reader.notes, reader.mistakes)
  }
}
