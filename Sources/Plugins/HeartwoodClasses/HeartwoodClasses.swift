import Foundation
import PackagePlugin

/// Writes Swift for the models of Xcode in a target, as `heartwood generate` does: for each entity what its model says.
@main
struct HeartwoodClasses: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
    guard let target = target as? SourceModuleTarget else { return [] }
    let command =
      try ProcessInfo.processInfo.environment["HEARTWOOD_COMMAND"].map { URL(fileURLWithPath: $0) }
      ?? context.tool(named: "HeartwoodGenerator").url
    return try models(in: target.directoryURL).map { model in
      let name = model.deletingPathExtension().lastPathComponent
      let output = context.pluginWorkDirectoryURL.appending(path: "\(name)+Classes.swift")
      return .buildCommand(
        displayName: "Writing the classes of \(model.lastPathComponent)", executable: command,
        arguments: ["generate", model.path, "--mode", "model", "--output", output.path],
        // The folder, so that the build system does not call it unhandled, and the files, so that a change is noticed.
        inputFiles: [model] + (try files(of: model)), outputFiles: [output])
    }
  }

  private func models(in folder: URL) throws -> [URL] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
      .filter { $0.hasSuffix(".xcdatamodeld") }.map { folder.appending(path: $0) }
  }

  private func files(of model: URL) throws -> [URL] {
    try FileManager.default.subpathsOfDirectory(atPath: model.path).sorted()
      .filter { $0.hasSuffix("/contents") || $0 == ".xccurrentversion" }.map { model.appending(path: $0) }
  }
}
