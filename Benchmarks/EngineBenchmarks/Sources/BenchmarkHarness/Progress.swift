import Foundation

/// Says on standard error what is being measured.
public func progress(_ text: String) {
  FileHandle.standardError.write(Data((text + "\n").utf8))
}
