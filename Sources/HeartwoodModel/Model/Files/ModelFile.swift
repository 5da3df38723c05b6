import Foundation
import HeartwoodArchives

/// A model in a file of any kind that is known.
package struct ModelFile {
  package let document: ModelDocument
  /// The parts of the file that the document does not have, or has otherwise.
  package private(set) var notes: [String]
  /// The statements that no store could mean: the document is not to be used if there are any.
  package let mistakes: [String]
  /// Whether the file is of Xcode's format, or compiled of one.
  package let isXcodeModel: Bool
  /// The path of the file.
  private let path: String
  /// See `XcodeModelReader.lines`; empty for other files.
  private let lines: [String: Int]

  /// - Parameter url: A `.xcdatamodeld` or `.xcdatamodel` folder, the file `contents` of one, a `.momd` folder or a `.mom` file, or what
  ///   `encodedDocument()` returns.
  /// - Throws: `.coreData` if it is no model.
  package init(_ url: URL) throws(HeartwoodError) {
    switch url.pathExtension {
    case "xcdatamodeld":
      let bundle = try XcodeModelBundle(url)
      try self.init(folder: bundle.current.url)
      notes += bundle.notes
    case "xcdatamodel": try self.init(folder: url)
    case "momd": try self.init(file: try CompiledModelBundle(url).current.url)
    case "omo":
      throw HeartwoodError(
        .coreData,
        "\(url.path) is another form of a model that Apple's tools have compiled, which is not read: take the .mom beside it, or the folder"
      )
    default: try self.init(file: url)
    }
  }

  /// An error in the model, with the line of what it is about.
  func locate(_ error: HeartwoodError, at place: String) -> HeartwoodError {
    guard let line = lines[place] else { return error }
    return error.withMessage("\(path), line \(line): \(error.message)")
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
    try self.init(file: contents, isInFolder: true)
  }

  /// - Parameter isInFolder: Whether it is that of a `.xcdatamodel` folder, whose form is known.
  private init(file url: URL, isInFolder: Bool = false) throws(HeartwoodError) {
    path = url.path
    let data: Data
    do {
      data = try Data(contentsOf: url)
    } catch {
      throw HeartwoodError(.coreData, "the file \(url.path) is no model: \(error)", underlying: error)
    }
    if CompiledModelReader.isLikely(data) || url.pathExtension == "mom" {
      var reader = CompiledModelReader(file: url.path)
      document = try reader.document(of: CompiledModelReader.archive(data, file: url.path))
      (notes, mistakes, isXcodeModel, lines) = (reader.notes, reader.mistakes, true, [:])
      return
    }
    if let kind = ForeignFile.kind(of: data) {
      throw HeartwoodError(.coreData, "the file \(url.path) is no model: \(kind)")
    }
    let space: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF]
    isXcodeModel = isInFolder || data.first { !space.contains($0) } == UInt8(ascii: "<")
    guard isXcodeModel else {
      do {
        document = try JSONDecoder().decode(ModelDocument.self, from: data)
        (notes, mistakes, lines) = ([], [], [:])
        return
      } catch {
        throw HeartwoodError(
          .coreData, "the file \(url.path) is no model: \(DecodingText.text(of: error))", underlying: error)
      }
    }
    let root = try MarkupElement(document: data, file: url.path)
    var reader = XcodeModelReader(file: url.path)
    document = try reader.document(of: root)
    (notes, mistakes, lines) = (reader.notes, reader.mistakes, reader.lines)
  }
}
