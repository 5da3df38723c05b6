/// The running process.
package enum CurrentProcess {
  /// The system's number for the process; a forked child has another one.
  package static var identifier: Int32 { SystemCall.processIdentifier }
}
