import Foundation
import Heartwood
import HeartwoodArchives

/// Reads files that are named on the command line.
enum InputFile {
  /// All bytes of the file at `path`, or of standard input for `-`.
  static func read(_ path: String) throws(CommandFailure) -> [UInt8] {
    do {
      if path == "-" { return Array(try FileHandle.standardInput.readToEnd() ?? Data()) }
      return Array(try open(path).readToEnd() ?? Data())
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw CommandFailure(.inputOutput, "\(name(path)): can't read it: \(DecodingText.text(of: error))")
    }
  }

  /// Opens the file at `path` for reading.
  static func open(_ path: String) throws(CommandFailure) -> FileHandle {
    do {
      var isDirectory: ObjCBool = false
      if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue {
        if let kind = ForeignFile.kind(at: path) { throw CommandFailure.data("\(path): \(kind)") }
        throw CommandFailure(.noInput, "\(path): this is a directory, not a file")
      }
      return try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    } catch let failure as CommandFailure {
      throw failure
    } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
      throw CommandFailure(.noInput, "\(path): there is no such file")
    } catch let error as CocoaError where error.code == .fileReadNoPermission {
      throw notPermitted(path)
    } catch {
      throw CommandFailure(.inputOutput, "\(name(path)): can't read it: \(DecodingText.text(of: error))")
    }
  }

  static func notPermitted(_ path: String) -> CommandFailure {
    CommandFailure(.noPermission, "\(path): no permission to read it")
  }

  /// Whether a folder of the path does not let the user see what is in it.
  static func isHidden(_ path: String) -> Bool {
    do {
      _ = try FileManager.default.attributesOfItem(atPath: path)
    } catch let error as CocoaError {
      return error.code == .fileReadNoPermission
    } catch {}
    return false
  }

  /// Runs `body` and adds the name of the file to failures about its data.
  static func naming<Result>(
    _ path: String, _ body: () throws(CommandFailure) -> Result
  ) throws(CommandFailure) -> Result {
    do {
      return try body()
    } catch {
      guard error.code == .dataError else { throw error }
      throw CommandFailure(error.code, "\(name(path)): \(error.message)")
    }
  }

  private static func name(_ path: String) -> String { path == "-" ? "standard input" : path }
}
