import Foundation

/// Bundles have the models that the build plugin has put into the program, as they have compiled models on Apple's systems: under the endings
/// `momd` and `mom`, and mapping models under `cdm`.
extension Bundle {
  /// The place of a resource; of several models of one name in the program, that of the bundle's target.
  public func url(forResource name: String, withExtension ext: String) -> URL? {
    if let model = model(name, ext) { return model }
    let (resource, ending): (String?, String?) = (name, ext)
    return url(forResource: resource, withExtension: ending)
  }

  /// The place of a resource, as `url(forResource:withExtension:)`; of any model for a missing name.
  public func url(forResource name: String?, withExtension ext: String) -> URL? {
    if let name { return url(forResource: name, withExtension: ext) }
    if let first = _urls(forResourcesWithExtension: ext, subdirectory: nil)?.first { return first }
    let ending: String? = ext
    return url(forResource: name, withExtension: ending)
  }

  /// The place of a resource in a folder, as `url(forResource:withExtension:)`.
  public func url(forResource name: String, withExtension ext: String, subdirectory: String) -> URL? {
    if ext == "mom", let folder = folder(subdirectory),
      EmbeddedModels.url(ofModel: folder.deletingPathExtension().lastPathComponent, version: name) != nil
    {
      return folder.appending(path: "\(name).mom")
    }
    let (resource, ending, folder): (String?, String?, String?) = (name, ext, subdirectory)
    return url(forResource: resource, withExtension: ending, subdirectory: folder)
  }

  /// The places of all resources with an ending: of all models in the program, or, for `mom` and a subdirectory such as `Trips.momd`, of
  /// the versions of one. The plugin that translates sources calls it for `urls(forResourcesWithExtension:subdirectory:)`, which Foundation has
  /// with results of another type.
  public func _urls(forResourcesWithExtension ext: String, subdirectory subpath: String?) -> [URL]? {
    let own = urls(forResourcesWithExtension: ext, subdirectory: subpath)?.map { $0 as URL }
    let known = Set((own ?? []).map(\.lastPathComponent))
    let models = models(ext, subpath).filter { !known.contains($0.lastPathComponent) }
    return own == nil && models.isEmpty ? nil : (own ?? []) + models
  }

  /// The path of a resource, as `url(forResource:withExtension:)`.
  public func path(forResource name: String, ofType ext: String) -> String? {
    if let model = model(name, ext), model.isFileURL { return model.path }
    let (resource, ending): (String?, String?) = (name, ext)
    return path(forResource: resource, ofType: ending)
  }

  /// The paths of all resources with an ending, as `_urls(forResourcesWithExtension:subdirectory:)`.
  public func _paths(forResourcesOfType ext: String, inDirectory subpath: String?) -> [String] {
    _urls(forResourcesWithExtension: ext, subdirectory: subpath)?.map(\.path) ?? []
  }

  private func model(_ name: String, _ ext: String) -> URL? {
    switch ext {
    case "momd": EmbeddedModels.folder(of: name, in: self)
    case "mom": version(name)
    case "cdm": MappingModels.url(ofMapping: name, in: self)
    default: nil
    }
  }

  /// A model by its own name, or by that of a version.
  private func version(_ name: String) -> URL? {
    if let known = EmbeddedModels.found(name, where: { EmbeddedModels.isBundle(self, ofModule: $0) }) {
      return EmbeddedModels.folder(of: name, in: self)?.appending(path: "\(known.currentVersion).mom")
    }
    let model = EmbeddedModels.name(ofModelWithVersion: name)
    return model.flatMap { EmbeddedModels.folder(of: $0, in: self) }?.appending(path: "\(name).mom")
  }

  private func folder(_ subpath: String) -> URL? {
    let name = URL(fileURLWithPath: subpath).lastPathComponent
    return name.hasSuffix(".momd") ? EmbeddedModels.folder(of: String(name.dropLast(5)), in: self) : nil
  }

  private func models(_ ext: String, _ subpath: String?) -> [URL] {
    switch (ext, subpath) {
    case ("momd", nil): return EmbeddedModels.all.compactMap(EmbeddedFolders.shared.folder)
    case ("cdm", nil): return MappingModels.urls
    case ("mom", let subpath?):
      guard let folder = folder(subpath) else { return [] }
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
      return names.filter { $0.hasSuffix(".mom") }.sorted().map { folder.appending(path: $0) }
    default: return []
    }
  }
}
