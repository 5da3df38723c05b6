/// Ends the process because the caller broke a rule of the interface.
///
/// Unlike `preconditionFailure`, it prints the rule to standard error in release builds too, where it is
/// often the only information about the failure.
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
