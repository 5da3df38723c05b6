import CoreDataTranslation
import Foundation
import HeartwoodArchives

/// Looks through sources for Apple's Core Data for what hinders them on other systems.
enum PortCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "port",
    summary: "find and mend what keeps sources for Core Data from other systems",
    arguments: [SubcommandSyntax.Argument(name: "folder", summary: "a folder of Swift sources, or one file")],
    options: [
      SubcommandSyntax.Option(
        name: "write", summary: "put attributes of Objective-C into #if, and write key paths as texts")
    ],
    discussion: """
      Each line of the output has a file, a line and a remedy. After --write, the plugin CoreDataAccessors is enough
      for what the output no longer lists; CoreDataSources translates sources as they are. The command ends with 1 if
      something is left to do.
      """,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood port Sources/Model", meaning: "what keeps the sources from Linux"),
      SubcommandSyntax.Example(
        line: "heartwood port Sources/Model --write", meaning: "mends what can be mended"),
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let root = arguments.argument(0) ?? ""
    let writes = arguments.has("write")
    var left = 0
    var mended = 0
    for file in try files(in: root) {
      let bytes = try contents(of: file)
      let porting = Porting(bytes)
      for finding in porting.findings where !(writes && finding.isMended) {
        left += 1
        try console.writeLine("\(file):\(finding.line): \(finding.message)")
      }
      guard writes, porting.findings.contains(where: \.isMended) else { continue }
      mended += porting.findings.count(where: \.isMended)
      do {
        try Data(porting.text.utf8).write(to: URL(filePath: file), options: .atomic)
      } catch {
        throw CommandFailure(
          .cannotCreate, "\(file): can't write the source: \(DecodingText.text(of: error))")
      }
    }
    if writes { console.writeNote("\(mended) places mended, \(left) left to do\n") }
    return left == 0 ? .success : .verificationFailed
  }

  private static func files(in root: String) throws(CommandFailure) -> [String] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: root, isDirectory: &isFolder) else {
      guard !InputFile.isHidden(root) else { throw InputFile.notPermitted(root) }
      throw CommandFailure(.noInput, "\(root): there is no such file or folder")
    }
    guard isFolder.boolValue else {
      guard root.hasSuffix(".swift") else { throw .data("\(root): this is no Swift source") }
      return [root]
    }
    do {
      let names = try FileManager.default.subpathsOfDirectory(atPath: root).sorted()
      // Files that a package manager has built or checked out are not the program's.
      return names.filter { name in
        name.hasSuffix(".swift") && !name.split(separator: "/").contains { $0.hasPrefix(".") }
      }
      .map { root.hasSuffix("/") ? root + $0 : root + "/" + $0 }
    } catch {
      throw CommandFailure(.noInput, "\(root): can't be read: \(DecodingText.text(of: error))")
    }
  }

  private static func contents(of file: String) throws(CommandFailure) -> [UInt8] {
    try InputFile.read(file)
  }
}
