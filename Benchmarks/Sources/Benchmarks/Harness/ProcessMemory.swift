import Foundation

/// Memory of this process, as the kernel counts it.
enum ProcessMemory {
  /// Bytes of the heap and other memory that no file backs.
  static func anonymousBytes() -> Int { status("RssAnon:") }

  /// Bytes that are gone with the process: the heap and memory shared under no file's name.
  static func ownBytes() -> Int { anonymousBytes() + status("RssShmem:") }

  /// The most bytes that were resident at once since `forgetPeak`, pages of mapped files included.
  static func peakBytes() -> Int { status("VmHWM:") }

  /// Makes what is resident now the peak.
  static func forgetPeak() {
    try? Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
  }

  private static func status(_ name: String) -> Int {
    guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
    let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
    let kibibytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    return (kibibytes ?? 0) * 1024
  }
}
