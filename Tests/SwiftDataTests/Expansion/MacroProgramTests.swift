import Foundation
import Testing

/// The program that the compiler starts, by its standard input and output.
struct MacroProgramTests {
  /// The output of the program until it ends, for an input that ends.
  private func run(_ input: Data) throws -> Data {
    let process = Process()
    process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(
      path: "SwiftDataMacros-tool")
    let (standardInput, standardOutput) = (Pipe(), Pipe())
    process.standardInput = standardInput
    process.standardOutput = standardOutput
    try process.run()
    try standardInput.fileHandleForWriting.write(contentsOf: input)
    try standardInput.fileHandleForWriting.close()
    let output = try standardOutput.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 0)
    return output
  }

  private func frame(_ message: String) -> Data {
    let length = UInt64(message.utf8.count)
    return Data((0..<8).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }) + Data(message.utf8)
  }

  private func messages(_ output: Data) -> [String] {
    var (rest, found) = (output[...], [String]())
    while rest.count >= 8 {
      let length = rest.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
      found.append(String(decoding: rest.dropFirst(8).prefix(length), as: UTF8.self))
      rest = rest.dropFirst(8 + length)
    }
    return found
  }

  private let handshake = #"{"getCapability":{"capability":{"protocolVersion":7}}}"#

  @Test func `each message is answered by one frame, in order, also one that is no message`() throws {
    let answers = messages(
      try run(frame(handshake) + frame("{}") + frame("no JSON") + frame("[1]") + frame(handshake)))
    #expect(answers.count == 5)
    #expect(answers[0].contains("getCapabilityResult") && answers[4].contains("getCapabilityResult"))
    #expect(answers[1...3].allSatisfy { $0.contains("loadPluginLibraryResult") })
  }

  @Test func `the program ends at the end of the input, in a frame that is torn, and at a length of zero`()
    throws
  {
    #expect(try run(Data()).isEmpty)
    #expect(messages(try run(frame(handshake) + Data([1, 2]))).count == 1)
    #expect(messages(try run(frame(handshake) + frame(handshake).dropLast())).count == 1)
    #expect(messages(try run(frame(handshake) + Data(count: 8) + frame(handshake))).count == 1)
    #expect(messages(try run(frame(handshake) + Data(repeating: 0xFF, count: 8) + Data("x".utf8))).count == 1)
  }
}
