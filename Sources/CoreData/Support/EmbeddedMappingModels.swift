import Foundation
import Heartwood

/// A mapping model of Xcode that the build plugin has put into the program. The plugin makes a subclass for each, whose name has the
/// mapping model's.
open class _EmbeddedMappingModel {
  /// The name of the folder of the mapping model, without its ending.
  open class var name: String { "" }
  /// The text of its file.
  open class var contents: String { "" }
}

/// The mapping models in the program and among the resources of bundles.
enum MappingModels {
  private static let prefix = "_EmbeddedMappingModel_"

  /// Finds the mapping models and makes the managers that migrate stores when they are opened.
  static let finder = MappingModelFinder(
    prepare: { model in for entity in model.entities { entity.useClass(NSManagedObject.self) } },
    find: { try find(in: nil, from: $0, to: $1) },
    makeManager: { NSMigrationManager(sourceModel: $0, destinationModel: $1) })

  /// The mapping model for two models; nil if there is none.
  ///
  /// - Parameter bundles: Where to look beside the program itself; nil for the program's resources.
  /// - Throws: An error about the mapping model that is found, or, if none is found, with one that could not be read.
  static func find(
    in bundles: [Bundle]?, from source: NSManagedObjectModel, to destination: NSManagedObjectModel
  ) throws -> NSMappingModel? {
    let (embedded, files) = (types, places(bundles))
    guard !embedded.isEmpty || !files.isEmpty else { return nil }
    source.bindClasses()
    destination.bindClasses()
    var problem: (any Error)?
    func readable(_ read: () throws -> NSMappingModel) -> NSMappingModel? {
      do {
        return try read()
      } catch {
        problem = problem ?? error
        return nil
      }
    }
    let found =
      embedded.compactMap { type in readable { try model(type) } }
      + files.compactMap { file in readable { try model(at: file) } }
    if let best = NSMappingModel.best(of: found, source, destination) {
      return try best.withPolicies { throw $0 }
    }
    if let problem { throw problem }
    return nil
  }

  /// The mapping model at a place: one in the program, or a file.
  static func model(contentsOf url: URL) throws -> NSMappingModel {
    let name = url.deletingPathExtension().lastPathComponent
    let module = url.deletingLastPathComponent().lastPathComponent
    if url.scheme == EmbeddedModels.scheme || url.pathExtension == "cdm",
      let type = type(name, where: { $0 == module })
    {
      return try model(type).withPolicies { MissingPolicy($0) }
    }
    // Where a policy's class is missing, migrations fail, and not the reading, as with Core Data.
    return try model(at: url).withPolicies { MissingPolicy($0) }
  }

  /// The place of a mapping model in the program, for `NSMappingModel(contentsOf:)`; nil if there is none of this name.
  static func url(ofMapping name: String, in bundle: Bundle) -> URL? {
    type(name) { EmbeddedModels.isBundle(bundle, ofModule: $0) }.flatMap(url)
  }

  /// The places of all mapping models in the program.
  static var urls: [URL] { types.compactMap(url) }

  private static func url(of type: _EmbeddedMappingModel.Type) -> URL? {
    let path = [EmbeddedModels.module(of: type), type.name].map(EmbeddedModels.escaped).joined(separator: "/")
    return URL(string: "\(EmbeddedModels.scheme):/\(path).cdm")
  }

  /// The mapping model of a name: that of the module, where several have one of this name.
  private static func type(
    _ name: String, where isWanted: (_ module: String) -> Bool
  ) -> _EmbeddedMappingModel.Type? {
    let named = types.filter { $0.name == name }
    return named.first { isWanted(EmbeddedModels.module(of: $0)) } ?? named.first
  }

  private static var types: [_EmbeddedMappingModel.Type] {
    ProgramClasses.all(withPrefix: prefix).compactMap { $0 as? _EmbeddedMappingModel.Type }
  }

  private static func places(_ bundles: [Bundle]?) -> [URL] {
    (bundles?.compactMap(\.resourceURL) ?? EmbeddedModels.resourceFolders)
      .flatMap { folder in
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().filter { $0.hasSuffix(".xcmappingmodel") || $0.hasSuffix(".cdm") }
          .map { folder.appending(path: $0) }
      }
  }

  private static func model(_ type: _EmbeddedMappingModel.Type) throws -> NSMappingModel {
    // Policies are made once the mapping model is the one that is used.
    try NSMappingModel(
      xcode: Data(type.contents.utf8), file: "\(type.name).xcmappingmodel",
      policy: { _ in EntityMigrationPolicy() },
      model: { EmbeddedModels.model(atProjectPath: $0, for: type) })
  }

  private static func model(at url: URL) throws -> NSMappingModel {
    if url.pathExtension == "cdm" {
      return try NSMappingModel(
        compiled: Data(contentsOf: url), file: url.path, policy: { _ in EntityMigrationPolicy() })
    }
    guard let file = NSMappingModel.xcodeFile(at: url) else {
      throw HeartwoodError(.coreData, "\(url.path) is no mapping model of Xcode (.xcmappingmodel or .cdm)")
    }
    return try NSMappingModel(
      xcode: Data(contentsOf: file), file: file.path, policy: { _ in EntityMigrationPolicy() },
      model: { EmbeddedModels.model(atProjectPath: $0) })
  }
}

extension HeartwoodError {
  fileprivate static func missingPolicy(_ name: String, of mapping: NSEntityMapping) -> HeartwoodError {
    HeartwoodError(
      .migration,
      "the mapping \(mapping.anyName) has the policy \(name): there is no class of this name that inherits from NSEntityMigrationPolicy"
    )
  }
}

/// Stands for a policy whose class is not in the program: every migration with it fails.
private final class MissingPolicy: NSEntityMigrationPolicy, @unchecked Sendable {
  private var problem: HeartwoodError?

  convenience init(_ problem: HeartwoodError) {
    self.init()
    self.problem = problem
  }

  override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
    if let problem { throw problem }
  }
}

extension EmbeddedModels {
  /// The version of a model in the program that was at a path of the project, such as `App/Trips.xcdatamodeld/Trips 2.xcdatamodel`.
  fileprivate static func model(atProjectPath path: String, for user: AnyClass? = nil)
    -> NSManagedObjectModel?
  {
    let url = URL(fileURLWithPath: path)
    let version = url.deletingPathExtension().lastPathComponent
    let folder = url.deletingLastPathComponent()
    let isVersion = folder.pathExtension == "xcdatamodeld"
    let name = isVersion ? folder.deletingPathExtension().lastPathComponent : version
    guard names.contains(name) else { return nil }
    return self.url(ofModel: name, version: isVersion ? version : nil, for: user).flatMap(
      NSManagedObjectModel.init(contentsOf:))
  }
}

extension MappingModel {
  /// Makes the policies that the mappings name.
  ///
  /// - Parameter replacement: The policy in place of one whose class is missing, which the error says.
  fileprivate func withPolicies(
    orElse replacement: (HeartwoodError) throws -> NSEntityMigrationPolicy
  ) rethrows -> NSMappingModel {
    for mapping in anyEntityMappings {
      guard let name = mapping.policyName else { continue }
      mapping.policy =
        try NSEntityMigrationPolicy.made(named: name) ?? replacement(.missingPolicy(name, of: mapping))
    }
    return self
  }

  /// The mapping model for two models: one that the build plugin has put into the program, or a `.xcmappingmodel` or
  /// `.cdm` among the resources of bundles. Its policies are those of the program's classes.
  ///
  /// - Parameters:
  ///   - bundles: The bundles; nil for the program's own resources.
  ///   - sourceModel: The model of the source.
  ///   - destinationModel: The model of the destination.
  /// - Returns: Nil if there is none. What is wrong with one that cannot be used is written to standard error.
  public convenience init?(
    from bundles: [Bundle]?, forSourceModel sourceModel: NSManagedObjectModel?,
    destinationModel: NSManagedObjectModel?
  ) {
    guard let sourceModel, let destinationModel,
      let found = Self.orNote({ try MappingModels.find(in: bundles, from: sourceModel, to: destinationModel) }
      )
    else { return nil }
    self.init(entityMappings: found.anyEntityMappings)
  }

  /// The mapping model at a place: a `.xcmappingmodel`, a `.cdm` that was compiled of one, or one that the build plugin has put into the program, for which
  /// `Bundle.url(forResource:withExtension:)` gives the place under the ending `cdm`.
  ///
  /// - Returns: Nil if there is none. What is wrong with one that cannot be used is written to standard error.
  public convenience init?(contentsOf url: URL?) {
    guard let url, let found = Self.orNote({ try MappingModels.model(contentsOf: url) }) else { return nil }
    self.init(entityMappings: found.anyEntityMappings)
  }

  private static func orNote(_ body: () throws -> NSMappingModel?) -> NSMappingModel? {
    do {
      return try body()
    } catch {
      FileHandle.standardError.write(Data("CoreData: error: the mapping model was not read: \(error)\n".utf8))
      return nil
    }
  }
}
