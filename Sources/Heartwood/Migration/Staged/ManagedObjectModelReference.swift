import Foundation
import HeartwoodFiles

/// A promise of a model: its version checksum, and where the model is found when a migration needs it.
public final class ManagedObjectModelReference: NSObject, Sendable {
  /// The checksum of the model: `ManagedObjectModel.versionChecksum`.
  public let versionChecksum: String
  /// Whether the reference promises a model, and not only its checksum.
  let hasModel: Bool
  private let find: @Sendable () throws -> ManagedObjectModel?
  private let found = Guarded<ManagedObjectModel?>(nil)

  /// A reference that `find` resolves, at most once.
  ///
  /// - Parameters:
  ///   - versionChecksum: The checksum of the model.
  ///   - find: Makes the model, or returns nil if there is none.
  public init(versionChecksum: String, find: @escaping @Sendable () throws -> ManagedObjectModel?) {
    self.versionChecksum = versionChecksum
    self.find = find
    hasModel = true
  }

  /// A reference to a model that exists.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - versionChecksum: The checksum that the model must have; nil for its own, which freezes it.
  public convenience init(model: ManagedObjectModel, versionChecksum: String? = nil) {
    self.init(versionChecksum: versionChecksum ?? model.versionChecksum) { model }
  }

  /// A reference to the model in a file: what `ManagedObjectModel.encodedDocument()` returns.
  ///
  /// - Parameters:
  ///   - fileURL: The file.
  ///   - versionChecksum: The checksum of the model.
  public convenience init(fileURL: URL, versionChecksum: String) {
    self.init(versionChecksum: versionChecksum) {
      try Data(contentsOf: fileURL).withUnsafeBytes { try ManagedObjectModel(decoding: $0) }
    }
  }

  /// A reference to a model that is searched in files and folders, by its checksum.
  ///
  /// - Parameters:
  ///   - urls: As for `ManagedObjectModel.models(in:)`.
  ///   - versionChecksum: The checksum of the model.
  public convenience init(searching urls: [URL], versionChecksum: String) {
    self.init(versionChecksum: versionChecksum) {
      try ManagedObjectModel.models(in: urls).first { $0.versionChecksum == versionChecksum }
    }
  }

  /// A reference to the model in a resource of a bundle.
  ///
  /// - Parameters:
  ///   - name: The name of the file, without its ending `.json`.
  ///   - bundle: The bundle, such as `Bundle.module`; nil for the main bundle.
  ///   - versionChecksum: The checksum of the model.
  public convenience init(name: String, in bundle: Bundle?, versionChecksum: String) {
    let folder = (bundle ?? .main).resourceURL
    self.init(versionChecksum: versionChecksum) {
      try folder.map { try ManagedObjectModel(contentsOf: $0.appending(path: "\(name).json")) }
    }
  }

  /// A reference without a model. A store that was written with the model has it.
  ///
  /// - Parameter versionChecksum: The checksum of the model.
  public init(versionChecksum: String) {
    self.versionChecksum = versionChecksum
    find = { nil }
    hasModel = false
  }

  /// The model.
  ///
  /// - Throws: `.stagedMigrationModelReference` if there is none, or if it has another checksum; what finding it throws is the
  ///   error's `underlying`.
  @_disfavoredOverload public var resolvedModel: ManagedObjectModel {
    get throws { try resolved(from: nil) }
  }

  /// - Parameter stored: the model of the store that is migrated.
  func resolved(from stored: ManagedObjectModel?) throws -> ManagedObjectModel {
    if let stored, stored.versionChecksum == versionChecksum { return hasModel ? try resolvedModel : stored }
    if let known = found.withLock({ $0 }) { return known }
    let model: ManagedObjectModel?
    do { model = try find() } catch {
      throw HeartwoodError(
        .stagedMigrationModelReference,
        "the model with the checksum \(versionChecksum) was not found: \(error)",
        underlying: error)
    }
    guard let model else {
      throw HeartwoodError(
        .stagedMigrationModelReference,
        "there is no model with the checksum \(versionChecksum): give the reference a model")
    }
    try model.freeze()
    guard model.versionChecksum == versionChecksum else {
      throw HeartwoodError(
        .stagedMigrationModelReference,
        "a reference promises a model with the checksum \(versionChecksum), and its model has \(model.versionChecksum): "
          + "give it the model of that version"
      )
    }
    found.withLock { $0 = model }
    return model
  }
}

extension ManagedObjectModel {
  /// The whole model as JSON, for `ManagedObjectModelReference(fileURL:versionChecksum:)`. Classes are named, and not restored.
  ///
  /// - Throws: `.coreData` if the model is not valid.
  @_disfavoredOverload
  public func encodedDocument() throws -> Data {
    try freeze()
    return Data(try encoded())
  }
}
