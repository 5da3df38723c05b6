import HeartwoodBytes
import HeartwoodEngine
import HeartwoodFiles

/// Reads a file of any form into an engine.
struct StoreFileReader {
  let format: StoreFileFormat
  let path: String

  struct Contents {
    let engine: Engine
    let header: StoreFileHeader
  }

  /// - Parameter make: Makes the engine, with the identifier of the store.
  func read(_ input: inout FileInput, _ make: (StoreIdentifier?) throws -> Engine) throws -> Contents {
    do {
      switch format {
      case .binary: return try readBinary(&input, make)
      case .json, .xml: return try read(readText(&input), make)
      }
    } catch let error as BinaryStoreFile.Damage {
      throw damaged(error.message)
    } catch is ByteReader.ShortInput {
      throw damaged("it ends too early")
    } catch let error as ConstraintViolations {
      throw damaged(Self.text(error.violations))
    } catch let error as HeartwoodError where error.message != error.messageWithoutAdvice {
      throw damaged(error.messageWithoutAdvice)
    } catch let error as EngineError {
      throw HeartwoodError.engine(error, "the store at \(path) could not be read", .persistentStoreOpen)
    }
  }

  /// The first objects with values that must be unique, and how many others there are.
  private static func text(_ violations: [ConstraintViolation]) -> String {
    guard let first = violations.first else { return "values that must be unique are not" }
    let name = first.entity.displayName
    let values = zip(first.constraint, first.values).map { "\($0) \($1.shortText)" }.joined(separator: ", ")
    let others = violations.count > 1 ? " (and \(violations.count - 1) others)" : ""
    return
      "\(name) \(first.existingKey) and \(name) \(first.newKey) have the same \(values), which must be unique\(others)"
  }

  private func readBinary(
    _ input: inout FileInput, _ make: (StoreIdentifier?) throws -> Engine
  ) throws -> Contents {
    let (header, seed) = try BinaryStoreFile.header(&input)
    let engine = try make(header.identifier)
    try engine.write { transaction in
      try BinaryStoreFile.readEntries(&input, seed: seed) { key, value in
        guard BinaryStoreFile.keeps(key) else { throw damaged("it has a key that files do not have") }
        try transaction.put(key, value)
      }
    }
    return Contents(engine: engine, header: header)
  }

  /// The whole file. Memory grows only with text that is there: zeros, which a file may have without being so large, are none.
  private func readText(_ input: inout FileInput) throws -> [UInt8] {
    var text: [UInt8] = []
    while true {
      let piece = try input.nextPiece()
      guard !piece.isEmpty else { return text }
      guard !piece.contains(0) else { throw damaged("it contains zero bytes, and is no text") }
      text.append(contentsOf: piece)
    }
  }

  func damaged(_ what: String) -> HeartwoodError { .damagedFile(path, format, what) }
}

extension HeartwoodError {
  static func damagedFile(_ path: String, _ format: StoreFileFormat, _ what: String) -> HeartwoodError {
    if let kind = ForeignFile.kind(at: path) {
      return HeartwoodError(.persistentStoreOpen, "the store at \(path) could not be opened: \(kind)")
    }
    let advice = format == .binary ? "restore it from a copy" : "correct it, or restore it from a copy"
    return HeartwoodError(
      .persistentStoreDamaged,
      "the store at \(path) is no \(format.rawValue) store, or a damaged one: \(what); nothing was changed; \(advice)"
    )
  }
}
