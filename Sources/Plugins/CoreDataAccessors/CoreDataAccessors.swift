import Foundation
import PackagePlugin

/// Lets sources with `@NSManaged` link on systems without the Objective-C runtime: writes one file with the accessors of all managed properties of the
/// target, puts its models into the program, and writes the classes of their entities.
///
/// The sources are compiled as they are, so what else needs Objective-C (`@objc`, `#keyPath`, `#selector`) must be within
/// `#if canImport(ObjectiveC)`. `CoreDataSources` translates it instead.
@main
struct CoreDataAccessors: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
    guard let target = target as? SourceModuleTarget else { return [] }
    #if os(macOS)
      return []
    #else
      let tool = try context.tool(named: "CoreDataTranslator")
      let generated = context.pluginWorkDirectoryURL.appending(path: "\(target.name).coredata.swift")
      let models = try models(in: target.directoryURL)
      let sources = target.sourceFiles.filter { $0.type == .source && $0.url.pathExtension == "swift" }.map(
        \.url)
      var arguments = ["--generated", generated.path, "--module", target.moduleName]
      for model in models { arguments += ["--model", model.path] }
      let mappings = try mappings(in: target.directoryURL)
      for mapping in mappings { arguments += ["--mapping", mapping.path] }
      for source in sources { arguments += ["--plain", source.path] }
      // The types of the package's other targets may be those of properties.
      var known: [URL] = []
      for dependency in target.recursiveTargetDependencies {
        guard let other = dependency as? SourceModuleTarget, other.moduleName != "Heartwood",
          other.moduleName != "CoreData",
          context.package.targets.contains(where: { $0.id == other.id })
        else { continue }
        for file in other.sourceFiles where file.url.pathExtension == "swift" {
          arguments += ["--known", other.moduleName, file.url.path]
          known.append(file.url)
        }
      }
      return [
        .buildCommand(
          displayName: "Writing the accessors of \(target.name) for Core Data", executable: tool.url,
          arguments: arguments,
          inputFiles: sources + known + models + mappings + (try (models + mappings).flatMap(files)),
          outputFiles: [generated])
      ]
    #endif
  }

  private func models(in folder: URL) throws -> [URL] {
    let all = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
    let bundles = all.filter { $0.hasSuffix(".xcdatamodeld") }
    let single = all.filter { $0.hasSuffix(".xcdatamodel") && !$0.contains(".xcdatamodeld/") }
    return (bundles + single).map { folder.appending(path: $0) }
  }

  private func mappings(in folder: URL) throws -> [URL] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
      .filter { $0.hasSuffix(".xcmappingmodel") }.map { folder.appending(path: $0) }
  }

  private func files(of model: URL) throws -> [URL] {
    try FileManager.default.subpathsOfDirectory(atPath: model.path).sorted()
      .filter { name in ["contents", ".xccurrentversion", "xcmapping.xml"].contains { name.hasSuffix($0) } }
      .map { model.appending(path: $0) }
  }
}
