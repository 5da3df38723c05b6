import Foundation

/// Says on standard error what is being measured.
func progress(_ text: String) {
  FileHandle.standardError.write(Data((text + "\n").utf8))
}
