import Foundation
import Heartwood

/// A model that the build plugin has put into the program. The plugin makes a subclass for each, whose name has the model's.
open class _EmbeddedModel {
  /// The name of the folder of the model, without its ending.
  open class var name: String { "" }
  /// The names of the versions, without their endings, and the text of their files.
  open class var versions: [(name: String, contents: String)] { [] }
  /// The name of the version that is current.
  open class var currentVersion: String { versions.first?.name ?? "" }
}

/// The models in the program and beside it.
enum EmbeddedModels {
  static let scheme = "heartwood-model"
  private static let prefix = "_EmbeddedModel_"

  /// The names of the models in the program.
  static var names: [String] { Set(all.map(\.name)).sorted() }

  /// A model in the program.
  struct Found {
    let name: String
    /// The module of the target that has it: several may have a model of one name.
    let module: String
    let versions: [(name: String, contents: String)]
    let currentVersion: String

    /// The place of the model, or of a version, for `NSManagedObjectModel(contentsOf:)`; nil if there is no such version.
    func url(version: String? = nil) -> URL? {
      guard version == nil || versions.contains(where: { $0.name == version }) else { return nil }
      let ending = version.map { "/\(escaped($0)).mom" } ?? ""
      return URL(string: "\(scheme):/\(escaped(module))/\(escaped(name)).momd\(ending)")
    }
  }

  /// All models in the program, by name and module.
  static var all: [Found] {
    ProgramClasses.all(withPrefix: prefix).compactMap { type in
      (type as? _EmbeddedModel.Type).map {
        Found(
          name: $0.name, module: module(of: $0), versions: $0.versions, currentVersion: $0.currentVersion)
      }
    }.sorted { ($0.name, $0.module) < ($1.name, $1.module) }
  }

  /// The module of a class.
  static func module(of type: AnyClass) -> String { String(String(reflecting: type).prefix { $0 != "." }) }

  /// Whether a bundle has the resources of a module's target, as SwiftPM names it.
  static func isBundle(_ bundle: Bundle, ofModule module: String) -> Bool {
    let name = bundle.bundleURL.deletingPathExtension().lastPathComponent
    return String(name.map { $0.isLetter || $0.isNumber ? $0 : "_" }).hasSuffix("_" + module)
  }

  /// The model of a name: that of the module, where several have one of this name.
  static func found(
    _ name: String, version: String? = nil, where isWanted: (_ module: String) -> Bool = { _ in false }
  ) -> Found? {
    let named = all.filter { $0.name == name && $0.url(version: version) != nil }
    return named.first { isWanted($0.module) } ?? named.first
  }

  /// The model of a name, as a folder of files.
  static func folder(of name: String, in bundle: Bundle? = nil) -> URL? {
    let found = found(name) { module in bundle.map { isBundle($0, ofModule: module) } ?? false }
    return found.flatMap(EmbeddedFolders.shared.folder) ?? folderBeside(name)
  }

  /// The place of a model, for `NSManagedObjectModel(contentsOf:)`; nil if there is none of this name.
  ///
  /// - Parameter user: The class that looks for it: the model of its module is taken first.
  static func url(ofModel name: String, version: String? = nil, for user: AnyClass? = nil) -> URL? {
    let module = user.map { Self.module(of: $0) }
    if let found = found(name, version: version, where: { $0 == module }) {
      return found.url(version: version)
    }
    guard let folder = folderBeside(name) else { return nil }
    let ending = folder.pathExtension == "momd" ? "mom" : "xcdatamodel"
    return version.map { folder.appending(path: "\($0).\(ending)") } ?? folder
  }

  /// The places of all versions of all models in the program.
  static var places: [URL] {
    all.flatMap { model in model.versions.compactMap { model.url(version: $0.name) } }
  }

  /// The name of the model that has a version; nil if there is none.
  static func name(ofModelWithVersion version: String) -> String? {
    all.first { $0.versions.contains { $0.name == version } }?.name
  }

  /// A folder or file that Heartwood reads. Models in the program are written to a temporary folder.
  static func place(of url: URL) throws -> URL {
    if url.scheme == scheme { return try written(url) }
    if let (module, model, version) = EmbeddedFolders.shared.parts(of: url),
      let known = found(model, version: version, where: { $0 == module })?.url(version: version)
    {
      return try written(known)
    }
    let changed =
      url.pathExtension == "momd" ? "xcdatamodeld" : url.pathExtension == "mom" ? "xcdatamodel" : nil
    guard let changed, !FileManager.default.fileExists(atPath: url.path) else { return url }
    let other = url.deletingPathExtension().appendingPathExtension(changed)
    if FileManager.default.fileExists(atPath: other.path) { return other }
    let name = url.deletingPathExtension().lastPathComponent
    let folder = url.deletingLastPathComponent()
    if changed == "xcdatamodel", folder.pathExtension == "momd",
      let known = self.url(ofModel: folder.deletingPathExtension().lastPathComponent, version: name)
    {
      return try place(of: known)
    }
    return try self.url(ofModel: name).map(place) ?? url
  }

  private static func written(_ url: URL) throws -> URL {
    let parts = url.path.split(separator: "/").map(String.init)
    guard parts.count > 1, let type = found(String(parts[1].dropLast(5)), where: { $0 == parts[0] }) else {
      throw CocoaError(.fileNoSuchFile)
    }
    let wanted = parts.count > 2 ? String(parts[2].dropLast(4)) : type.currentVersion
    guard let version = type.versions.first(where: { $0.name == wanted }) else {
      throw CocoaError(.fileNoSuchFile)
    }
    let place = FileManager.default.temporaryDirectory
      .appending(path: "\(temporaryPrefix)\(ProcessInfo.processInfo.processIdentifier)-\(UUID().uuidString)")
      .appending(path: "\(version.name).xcdatamodel")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    try Data(version.contents.utf8).write(to: place.appending(path: "contents"))
    return place
  }

  /// Removes a folder that `place(of:)` has written.
  static func removeWritten(_ url: URL, at place: URL) {
    guard place != url, place.path.contains("/\(temporaryPrefix)") else { return }
    try? FileManager.default.removeItem(at: place.deletingLastPathComponent())
  }

  private static let temporaryPrefix = "heartwood-models-"

  /// A model folder in the resources beside the executable, compiled or not.
  private static func folderBeside(_ name: String) -> URL? {
    resourceFolders.flatMap { folder in
      ["xcdatamodeld", "momd"].map { folder.appending(path: "\(name).\($0)") }
    }.first { FileManager.default.fileExists(atPath: $0.path) }
  }

  /// The compiled models among the resources of bundles: `.momd` folders, and `.mom` files beside them.
  ///
  /// - Parameter bundles: The bundles; nil for the program's own resources.
  static func compiled(in bundles: [Bundle]?) -> [URL] {
    (bundles?.compactMap(\.resourceURL) ?? resourceFolders).flatMap { folder in
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
      return names.sorted().filter { $0.hasSuffix(".momd") || $0.hasSuffix(".mom") }.map {
        folder.appending(path: $0)
      }
    }
  }

  /// The folders of resources beside the executable.
  static var resourceFolders: [URL] {
    Set([Bundle.main.resourceURL, Bundle.main.bundleURL].compactMap { $0?.standardizedFileURL })
      .sorted { $0.path < $1.path }
      .flatMap { folder in
        let entries =
          (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        return [folder] + entries.filter { ["resources", "bundle"].contains($0.pathExtension) }
      }
  }

  static func escaped(_ name: String) -> String {
    name.addingPercentEncoding(
      withAllowedCharacters: .urlPathAllowed.subtracting(CharacterSet(charactersIn: "/"))) ?? name
  }
}
