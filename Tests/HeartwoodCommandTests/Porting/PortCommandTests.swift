import Foundation
import TestSupport
import Testing

@testable import HeartwoodCommand

@Suite struct `Porting sources` {
  @Test func `what hinders sources is listed with file and line, and mended where that is possible`() throws {
    let folder = try TemporaryFolder()
    let file = folder.path("City.swift")
    try "import CoreData\n@objc(City)\nclass City: NSManagedObject {}\n".write(
      toFile: file, atomically: true, encoding: .utf8)
    try "import UIKit\n".write(toFile: folder.path("View.swift"), atomically: true, encoding: .utf8)
    let listed = CommandRun("port", folder.path(""))
    #expect(listed.status == .verificationFailed)
    #expect(listed.output.contains("City.swift:2: @objc(City) needs the Objective-C runtime"))
    #expect(listed.output.contains("View.swift:1: UIKit is no module on Linux"))

    let mended = CommandRun("port", folder.path(""), "--write")
    #expect(mended.notes == "1 places mended, 1 left to do\n")
    #expect(
      try String(contentsOfFile: file, encoding: .utf8)
        == "import CoreData\n#if canImport(ObjectiveC)\n@objc(City)\n#endif\nclass City: NSManagedObject {}\n"
    )
    #expect(CommandRun("port", file).status == .success)
  }

  @Test func `a folder that does not exist is an error`() {
    let run = CommandRun("port", "/no/such/folder")
    #expect(run.status == .noInput)
    #expect(run.notes == "heartwood: /no/such/folder: there is no such file or folder\n")
  }
}
