import Foundation
import Heartwood

/// Where a container stores its models, or some of them.
public struct ModelConfiguration: DataStoreConfiguration, Identifiable, Hashable, Sendable,
  CustomDebugStringConvertible
{
  /// The kind of store that it opens.
  public typealias Store = DefaultStore

  /// Without effect: there are no groups of applications here. Another folder is chosen by a URL.
  public struct GroupContainer: Sendable, Hashable {
    private let name: String
    private init(_ name: String) { self.name = name }
    /// The folder of the program.
    public static var automatic: GroupContainer { GroupContainer("automatic") }
    /// The folder of the program.
    public static var none: GroupContainer { GroupContainer("none") }
    /// The folder of a group, which only Apple's systems have.
    @available(
      *, unavailable,
      message: "groups of applications exist on Apple's systems: choose a URL that the programs share"
    )
    public static func identifier(_ groupName: String) -> GroupContainer { GroupContainer(groupName) }
  }

  /// Without effect: CloudKit exists on Apple's systems.
  public struct CloudKitDatabase: Sendable, Hashable {
    private let name: String
    private init(_ name: String) { self.name = name }
    /// No database.
    public static var automatic: CloudKitDatabase { CloudKitDatabase("automatic") }
    /// No database.
    public static var none: CloudKitDatabase { CloudKitDatabase("none") }
    /// A database of CloudKit, which only Apple's systems have.
    @available(
      *, unavailable, message: "CloudKit exists on Apple's systems: follow the history of the store instead"
    )
    public static func `private`(_ privateDBName: String) -> CloudKitDatabase {
      CloudKitDatabase(privateDBName)
    }
  }

  /// The name of the store's folder, without `.store`; of a store with a URL, a name for messages.
  public var name: String
  /// The models of the store; nil for all of the container.
  public var schema: Schema?
  /// The store's place: a folder.
  public let url: URL
  /// Whether the models are kept in memory only.
  public let isStoredInMemoryOnly: Bool
  /// Whether models may be changed.
  public let allowsSave: Bool
  /// Without effect.
  public let groupContainer: GroupContainer
  /// Without effect.
  public let cloudKitDatabase: CloudKitDatabase
  /// Without effect.
  public let groupAppContainerIdentifier: String? = nil
  /// Without effect.
  public let cloudKitContainerIdentifier: String? = nil
  let hasGivenURL: Bool

  /// The place of the store.
  public var id: URL { url }

  /// A store in the default place, or in memory.
  public init(isStoredInMemoryOnly: Bool) { self.init(nil, isStoredInMemoryOnly: isStoredInMemoryOnly) }

  /// A store for some models, in the default place or in memory.
  @_disfavoredOverload
  public init(for forTypes: any PersistentModel.Type..., isStoredInMemoryOnly: Bool = false) {
    self.init(nil, schema: Schema(forTypes), isStoredInMemoryOnly: isStoredInMemoryOnly)
  }

  /// A store in a folder of the program.
  ///
  /// - Parameters:
  ///   - name: The name of the store's folder, without `.store`; nil for `default`.
  ///   - schema: Its models; nil for all of the container.
  ///   - isStoredInMemoryOnly: Whether the models are kept in memory only.
  ///   - allowsSave: Whether models may be changed.
  ///   - groupContainer: Without effect.
  ///   - cloudKitDatabase: Without effect.
  public init(
    _ name: String? = nil, schema: Schema? = nil, isStoredInMemoryOnly: Bool = false, allowsSave: Bool = true,
    groupContainer: GroupContainer = .automatic, cloudKitDatabase: CloudKitDatabase = .automatic
  ) {
    self.name = name ?? "default"
    self.schema = schema
    self.isStoredInMemoryOnly = isStoredInMemoryOnly
    self.allowsSave = allowsSave
    self.groupContainer = groupContainer
    self.cloudKitDatabase = cloudKitDatabase
    hasGivenURL = false
    url =
      isStoredInMemoryOnly
      ? URL(filePath: "/dev/null") : Self.defaultFolder.appending(path: "\(self.name).store")
  }

  /// A store in a folder.
  ///
  /// - Parameters:
  ///   - name: A name for messages; nil for that of the folder.
  ///   - schema: Its models; nil for all of the container.
  ///   - url: The folder. It is made if it does not exist.
  ///   - allowsSave: Whether models may be changed.
  ///   - cloudKitDatabase: Without effect.
  public init(
    _ name: String? = nil, schema: Schema? = nil, url: URL, allowsSave: Bool = true,
    cloudKitDatabase: CloudKitDatabase = .automatic
  ) {
    self.name = name ?? url.deletingPathExtension().lastPathComponent
    self.schema = schema
    self.url = url
    self.allowsSave = allowsSave
    self.cloudKitDatabase = cloudKitDatabase
    groupContainer = .automatic
    isStoredInMemoryOnly = url.isOfMemory
    hasGivenURL = true
  }

  private static var defaultFolder: URL {
    let manager = FileManager.default
    return manager.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
      ?? URL(filePath: manager.currentDirectoryPath)
  }

  /// - Throws: If the name cannot be that of a folder.
  public func validate() throws {
    guard !hasGivenURL else { return }
    if name.contains("/") || name.contains("\0") || name == "." || name == ".." || name.isEmpty {
      throw SwiftDataError(
        .configurationFileNameContainsInvalidCharacters,
        "\"\(name)\" cannot be the name of a folder: remove \"/\" from it")
    }
    if name.utf8.count > 240 {
      throw SwiftDataError(
        .configurationFileNameTooLong, "the name has \(name.utf8.count) bytes: use at most 240")
    }
  }

  /// Whether both are of the same store, with the same models and settings.
  public static func == (left: ModelConfiguration, right: ModelConfiguration) -> Bool {
    left.name == right.name && left.url == right.url && left.schema == right.schema
      && left.isStoredInMemoryOnly == right.isStoredInMemoryOnly && left.allowsSave == right.allowsSave
  }

  /// Hashes name and place.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(url)
  }

  /// Name and place.
  public var debugDescription: String { "ModelConfiguration \(name) at \(url.path)" }
}
