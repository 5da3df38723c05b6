/// Ends the process because the program broke a rule of the interface.
///
/// Unlike the message of `preconditionFailure`, the rule is printed to standard error in release builds, too:
/// there it is often all that is left of the failure.
@inline(never)
@usableFromInline
package func programError(_ rule: String, file: StaticString = #fileID, line: UInt = #line) -> Never {
  fatalError("Heartwood: \(rule)", file: file, line: line)
}

/// Checks a rule of the interface, in release builds too; see `programError`.
@inlinable @inline(__always)
package func require(
  _ holds: Bool, _ rule: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) {
  if !holds { programError(rule(), file: file, line: line) }
}
