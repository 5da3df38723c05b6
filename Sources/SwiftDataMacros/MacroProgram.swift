import FoundationEssentials
import SwiftDataExpansion

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

private func systemRead(_ file: CInt, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  read(file, bytes, count)
}
private func systemWrite(_ file: CInt, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(file, bytes, count)
}

/// The program that the compiler starts: each message on standard input is answered on standard output. A message is its length in 8
/// bytes, the least significant first, then JSON. Ends at the end of the input, or at a length of 0.
@main
struct MacroProgram {
  static func main() throws {
    let decoder = JSONDecoder()
    let encoder = JSONEncoder()
    while let message = readMessage() {
      let answer: PluginResponse
      if let request = try? decoder.decode(PluginRequest.self, from: Data(message)) {
        answer = Expansion.answer(request)
      } else {
        answer = .unknown
      }
      write(message: try encoder.encode(answer))
    }
  }

  private static func readMessage() -> [UInt8]? {
    guard let header = read(count: 8) else { return nil }
    let length = header.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard length > 0, let count = Int(exactly: length) else { return nil }
    return read(count: count)
  }

  private static func read(count: Int) -> [UInt8]? {
    var isWhole = true
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count, isWhole {
        let got = systemRead(STDIN_FILENO, buffer.baseAddress?.advanced(by: filled), count - filled)
        if got > 0 { filled += got } else if got == 0 || errno != EINTR { isWhole = false }
      }
    }
    return isWhole ? bytes : nil
  }

  private static func write(message: Data) {
    let length = UInt64(message.count)
    let frame = (0..<8).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) } + message
    frame.withUnsafeBytes { bytes in
      var done = 0
      while done < bytes.count {
        let sent = systemWrite(STDOUT_FILENO, bytes.baseAddress?.advanced(by: done), bytes.count - done)
        if sent > 0 { done += sent } else if errno != EINTR { return }
      }
    }
  }
}
