import Heartwood
import HeartwoodEngine
import HeartwoodFiles
import Testing

@testable import HeartwoodCommand

private func file(_ code: FileSystemError.Code) -> FileSystemError {
  FileSystemError(code, .open, path: "/s/lock")
}

private func engine(_ code: EngineError.Code, _ cause: FileSystemError? = nil) -> EngineError {
  EngineError(code, "message", underlying: cause)
}

private func graph(_ code: HeartwoodError.Code, _ cause: (any Error)? = nil) -> HeartwoodError {
  HeartwoodError(code, "message", underlying: cause)
}

@Test(arguments: [
  (engine(.locked) as any Error, ExitCode.temporaryFailure),
  (graph(.persistentStoreOpen, engine(.locked)), .temporaryFailure),
  (graph(.persistentStoreOpen, engine(.notAStore)), .dataError),
  (graph(.persistentStoreOpen, engine(.newerFormat)), .dataError),
  (graph(.persistentStoreOpen, engine(.notFound)), .noInput),
  (graph(.persistentStoreOpen, engine(.readOnly, file(.permissionDenied))), .noPermission),
  (graph(.persistentStoreOpen, engine(.inputOutput, file(.permissionDenied))), .noPermission),
  (graph(.persistentStoreSave, engine(.noSpace, file(.noSpace))), .inputOutput),
  (graph(.persistentStoreSave, engine(.outcomeUnknown)), .temporaryFailure),
  (graph(.persistentStoreSave), .inputOutput),
  (graph(.persistentStoreDamaged, engine(.damaged)), .dataError),
  (graph(.persistentStoreIncompatibleVersionHash), .dataError),
  (graph(.validationRelationshipDeniedDelete), .dataError),
  (graph(.managedObjectConstraintMerge), .dataError),
  (graph(.managedObjectMerge), .temporaryFailure),
  (graph(.managedObjectReferentialIntegrity), .noInput),
  (file(.tooManyOpenFiles), .temporaryFailure),
  (file(.inputOutput), .inputOutput),
])
func `each error has its exit status, that of its deepest cause first`(error: any Error, code: ExitCode) {
  #expect(GraphFailure.failure(error, "/s").code == code)
}

@Test func `a failure names the store once, and objects by their short names`() {
  let id = "x-coredata://1F8725A0-34E1-0D9A-8E4C-5FEC66ECA15B/City/p4"
  #expect(
    GraphFailure.failure(HeartwoodError(.coreData, "\(id) is bad"), "/s").message == "/s: City/p4 is bad")
  #expect(GraphFailure.failure(HeartwoodError(.coreData, "no /s here"), "/s").message == "no /s here")
  #expect(GraphFailure.failure(HeartwoodError(.coreData, "no folder"), "d").message == "d: no folder")
}

@Test func `messages of the engine omit the paths that the line already has`() {
  let cause = EngineError(.damaged, "bad", file: "/x/s/1.log", offset: 7, underlying: nil)
  func message(_ doing: String) -> String {
    GraphFailure.failure(
      HeartwoodError(.persistentStoreOpen, "\(doing): \(cause)", underlying: cause), "/x/s"
    )
    .message
  }
  #expect(message("the store at /x/s could not be opened") == "/x/s: bad (1.log at byte 7)")
  #expect(
    message("the history could not be read") == "/x/s: the history could not be read: bad (1.log at byte 7)")
}

@Test func `an error of the file system is its reason, without the call and the path again`() {
  let cause = FileSystemError(.notFound, .openDirectory, path: "/x/none")
  let error = HeartwoodError(
    .migration, "the place at /x/none/s could not be locked: \(cause)", underlying: cause)
  #expect(
    GraphFailure.failure(error, "/x/none/s").message
      == "the place at /x/none/s could not be locked: no such file or directory")
  let engine = EngineError(.notFound, "the folder could not be opened", file: "/x/s", underlying: cause)
  #expect(GraphFailure.failure(engine, "/x/s").message == "/x/s: the folder could not be opened")
}

@Test func `only errors of damage count as damage`() {
  #expect(GraphFailure.failure(graph(.persistentStoreDamaged), "/s").isDamage)
  #expect(GraphFailure.failure(graph(.persistentStoreOpen, engine(.damaged)), "/s").isDamage)
  #expect(!GraphFailure.failure(graph(.persistentStoreOpen, engine(.notAStore)), "/s").isDamage)
}
