import Foundation
import PackagePlugin

/// Makes sources for Apple's Core Data compile on other systems: translates `@objc`, `@NSManaged`, `#keyPath` and `#selector`, puts the models of
/// the target into the program, and writes the classes of their entities.
///
/// If the target's manifest names a few of its sources only, the others are compiled as translated copies. Otherwise the compiler reads
/// the translated files in place of the target's, through the overlay that this plugin writes; the manifest passes it to the compiler.
@main
struct CoreDataSources: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
    guard let target = target as? SourceModuleTarget else { return [] }
    #if os(macOS)
      return []
    #else
      let tool = try context.tool(named: "CoreDataTranslator")
      let folder = context.pluginWorkDirectoryURL
      let models = try models(in: target.directoryURL)
      let swift = target.sourceFiles.filter { $0.url.pathExtension == "swift" }
      let others = swift.filter { $0.type == .unknown }.map(\.url)
      let generated = folder.appending(path: "\(target.name).coredata.swift")
      var arguments = ["--generated", generated.path]
      for model in models { arguments += ["--model", model.path] }
      let mappings = try mappings(in: target.directoryURL)
      for mapping in mappings { arguments += ["--mapping", mapping.path] }
      var outputs = [generated]
      let sources: [URL]
      if others.isEmpty {
        sources = swift.filter { $0.type == .source }.map(\.url)
        let translated = sources.map {
          ($0, folder.appending(path: "translated/\(self.name(of: $0, in: target.directoryURL))"))
        }
        for (source, output) in translated { arguments += ["--source", source.path, output.path] }
        try writeOverlay(translated, to: folder.appending(path: "overlay.yaml"))
      } else {
        sources = others
        for source in sources {
          let name = self.name(of: source, in: target.directoryURL).dropLast(6)
          // Another name than the source's, as two files of a name are an error.
          let output = folder.appending(path: "\(name).translated.swift")
          arguments += ["--source", source.path, output.path]
          outputs.append(output)
        }
      }
      return [
        .buildCommand(
          displayName: "Translating the sources of \(target.name) for Core Data", executable: tool.url,
          arguments: arguments,
          // The folders of models, so that the build system does not call them unhandled, and the files, so that a change is noticed.
          inputFiles: sources + models + mappings + (try (models + mappings).flatMap(files)),
          outputFiles: outputs)
      ]
    #endif
  }

  /// A name for a file that says its folder as well.
  private func name(of source: URL, in folder: URL) -> String {
    let path = source.path
    let root = folder.path.hasSuffix("/") ? folder.path : folder.path + "/"
    return (path.hasPrefix(root) ? String(path.dropFirst(root.count)) : source.lastPathComponent)
      .replacingOccurrences(of: "/", with: "-")
  }

  private func writeOverlay(_ files: [(URL, URL)], to place: URL) throws {
    let folders = Dictionary(grouping: files) { $0.0.deletingLastPathComponent().path }
    let roots: [[String: Any]] = folders.sorted { $0.key < $1.key }.map { folder, files in
      [
        "name": folder, "type": "directory",
        "contents": files.map { source, output in
          ["name": source.lastPathComponent, "type": "file", "external-contents": output.path]
        },
      ]
    }
    let overlay: [String: Any] = ["version": 0, "case-sensitive": "true", "roots": roots]
    let data = try JSONSerialization.data(
      withJSONObject: overlay, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
    if (try? Data(contentsOf: place)) != data { try data.write(to: place) }
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
